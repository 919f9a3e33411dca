package main

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// client PORT POLLS PERIOD_S TIMEOUT_S LONGEST_S: asks a server for its time, again and again.
//
// The server's time must lie between the moments before the question and after the answer. An answer that does not
// come within the timeout is a failure; so is a round trip that seems to have lasted longer than LONGEST_S.
func client(words []string) {
	server, err := net.Dial("tcp", "127.0.0.1:"+words[0])
	if err != nil {
		panic(err)
	}
	reader := bufio.NewReader(server)
	polls, timeout := int(number(words[1])), seconds(number(words[3]))
	outside := 0
	var longest time.Duration
	ticking := time.NewTicker(seconds(number(words[2])))
	for poll := range polls {
		<-ticking.C
		before := time.Now()
		server.SetDeadline(before.Add(timeout))
		if _, err = fmt.Fprintln(server, "?"); err != nil {
			fact(false, "poll %d: %v", poll, err)
			return
		}
		line, err := reader.ReadString('\n')
		after := time.Now()
		if err != nil {
			fact(false, "poll %d: %v after %v", poll, err, after.Sub(before))
			return
		}
		told, _ := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
		if told < before.UnixNano() || told > after.UnixNano() {
			outside++
		}
		longest = max(longest, after.Sub(before))
	}
	fact(outside == 0, "%d of %d answers were not of the time of the question", outside, polls)
	fact(longest.Seconds() < number(words[4]), "the longest round trip took %v", longest)
}

func certificate() (tls.Certificate, *x509.CertPool) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := x509.Certificate{
		SerialNumber: big.NewInt(1),
		NotBefore:    time.Now().AddDate(-1, 0, 0),
		NotAfter:     time.Now().AddDate(50, 0, 0),
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA:         true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	if err != nil {
		panic(err)
	}
	parsed, _ := x509.ParseCertificate(der)
	trusted := x509.NewCertPool()
	trusted.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, trusted
}

// http2 REQUESTS TIMEOUT_S: server and clients in this process, eight at a time, each resting between its requests,
// and a new handshake now and then. No request may fail.
func http2(words []string) {
	requests, timeout := int(number(words[0])), seconds(number(words[1]))
	ours, trusted := certificate()
	body := strings.Repeat("x", 50_000)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	server := &http.Server{
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{ours}, NextProtos: []string{"h2"}},
		Handler:   http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) }),
	}
	go server.ServeTLS(listener, "", "")
	transport := &http.Transport{
		TLSClientConfig:     &tls.Config{RootCAs: trusted},
		ForceAttemptHTTP2:   true,
		TLSHandshakeTimeout: timeout,
	}
	asking := &http.Client{Transport: transport, Timeout: timeout}
	const workers = 8
	var all, telling sync.WaitGroup
	told := make(chan result)
	for range workers {
		all.Go(func() {
			for i := range requests / workers {
				time.Sleep(seconds(2))
				if i%20 == 19 {
					transport.CloseIdleConnections()
				}
				told <- ask(asking, "https://"+listener.Addr().String(), len(body))
			}
		})
	}
	errors, older := 0, 0
	var longest time.Duration
	telling.Go(func() {
		for result := range told {
			longest = max(longest, result.took)
			if result.err != nil {
				errors++
				fmt.Println(result.err)
			} else if result.protocol != 2 {
				older++
			}
		}
	})
	all.Wait()
	close(told)
	telling.Wait()
	fact(errors == 0, "%d errors in %d requests", errors, requests)
	fact(older == 0, "%d were not HTTP/2", older)
	fact(true, "the longest took %v", longest)
}

type result struct {
	took     time.Duration
	protocol int
	err      error
}

func ask(client *http.Client, address string, length int) result {
	begin := time.Now()
	answer, err := client.Get(address)
	if err != nil {
		return result{took: time.Since(begin), err: err}
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err == nil && len(body) != length {
		err = fmt.Errorf("%d bytes of %d", len(body), length)
	}
	return result{took: time.Since(begin), protocol: answer.ProtoMajor, err: err}
}
