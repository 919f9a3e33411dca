# Reading the clock: what the substitute vDSO leads to. Callable from C and Go, general registers only, little stack.

# int clock_gettime(clockid_t, struct timespec *)
.globl mock_clock_blob_clock_gettime
mock_clock_blob_clock_gettime:
    cmp edi, 16
    jae 1f
    mov eax, VIRTUAL_CLOCKS
    bt eax, edi
    jnc 1f
    push rdi
    push rsi
    call .Lnow
    pop rsi
    pop rdi
    lea rcx, [rip + mock_clock_blob + CLOCK + CLOCK_OFFSETS]
    mov edi, edi
    add rax, [rcx + 8*rdi]
    call .Lseconds
    mov [rsi + TV_SEC], rax
    mov [rsi + TV_NSEC], rdx
    xor eax, eax
    ret
1:  # A clock of processor time, or none at all.
    jmp qword ptr [rip + mock_clock_blob + LOCAL + LOCAL_CLOCK_GETTIME]

# int gettimeofday(struct timeval *, struct timezone *)
.globl mock_clock_blob_gettimeofday
mock_clock_blob_gettimeofday:
    test rsi, rsi
    jz 1f
    mov qword ptr [rsi], 0
1:  test rdi, rdi
    jz 2f
    push rdi
    call .Lwall
    call .Lmicroseconds
    pop rdi
    mov [rdi + TV_SEC], rax
    mov [rdi + TV_USEC], rdx
2:  xor eax, eax
    ret

# time_t time(time_t *)
.globl mock_clock_blob_time
mock_clock_blob_time:
    push rdi
    call .Lwall
    call .Lseconds
    pop rdi
    test rdi, rdi
    jz 1f
    mov [rdi], rax
1:  ret

# rax: virtual wall time in nanoseconds.
.Lwall:
    call .Lnow
    add rax, [rip + mock_clock_blob + CLOCK + CLOCK_OFFSETS]
    ret

# rax nanoseconds are rax seconds and rdx nanoseconds.
.Lseconds:
    mov ecx, SECOND
    xor edx, edx
    div rcx
    ret

# rax nanoseconds are rax seconds and rdx microseconds.
.Lmicroseconds:
    call .Lseconds
    mov r8, rax
    mov rax, rdx
    xor edx, edx
    mov ecx, 1000
    div rcx
    mov rdx, rax
    mov rax, r8
    ret

# rax: virtual monotonic time in nanoseconds. Real time is taken between two readings of the same even sequence number:
# taken outside, old time could meet a new line.
.Lnow:
    push rbp
    mov rbp, rsp
    push rbx
    push r12
    sub rsp, 32
    and rsp, -16
    xor r12d, r12d
1:  mov ebx, [rip + mock_clock_blob + CLOCK + CLOCK_SEQUENCE]
    test ebx, 1
    jnz 2f
    mov edi, CLOCK_MONOTONIC
    mov rsi, rsp
    call qword ptr [rip + mock_clock_blob + LOCAL + LOCAL_CLOCK_GETTIME]
    imul rax, [rsp + TV_SEC], SECOND
    add rax, [rsp + TV_NSEC]
    xor ecx, ecx
    sub rax, [rip + mock_clock_blob + CLOCK + CLOCK_REAL0]
    cmovb rax, rcx
    mul qword ptr [rip + mock_clock_blob + CLOCK + CLOCK_MULT]
    shrd rax, rdx, 32
    add rax, [rip + mock_clock_blob + CLOCK + CLOCK_VIRT0]
    # The machine's counter may be read late, but not after the sequence number.
    lfence
    cmp ebx, [rip + mock_clock_blob + CLOCK + CLOCK_SEQUENCE]
    jne 2f
    lea rsp, [rbp - 16]
    pop r12
    pop rbx
    pop rbp
    ret
2:  # A writer that lost its processor needs ours; one that has died never ends its writing.
    pause
    inc r12d
    test r12d, 63
    jnz 1b
    mov eax, SYS_SCHED_YIELD
    syscall
    test r12d, 0xffff
    jnz 1b
    call .Lend_with_owner
    jmp 1b

# Ends this process if the one that owns the clock has ended. Changes what a system call changes, and rdi, rsi.
.Lend_with_owner:
    mov edi, [rip + mock_clock_blob + CLOCK + CLOCK_OWNER]
    xor esi, esi
    mov eax, SYS_KILL
    syscall
    cmp rax, -ESRCH
    jne 1f
    mov eax, SYS_GETPID
    syscall
    mov edi, eax
    mov esi, SIGKILL
    mov eax, SYS_KILL
    syscall
1:  ret
