# The calls that wait, or read the clock: each puts its deadline into r14 and what is to be called into the frame.

# Puts a mask of signals that argument \argument points to into the frame, without SIGSYS: blocked, it would kill.
.macro without_sigsys argument
    mov rcx, [rbp + \argument]
    test rcx, rcx
    jz 10f
    checked rcx
    mov rdx, [rcx]
    btr rdx, SIGSYS - 1
    mov [rbp + FRAME_MASK], rdx
    lea rdx, [rbp + FRAME_MASK]
    mov [rbp + \argument], rdx
10:
.endm

# As without_sigsys, of a mask that the last argument leads to: that points to the mask's address and its length.
.macro without_sigsys_in_pair
    mov rsi, [rbp + FRAME_A5]
    test rsi, rsi
    jz 11f
    checked rsi
    mov rax, [rsi]
    mov rdx, [rsi + 8]
    mov [rbp + FRAME_PAIR], rax
    mov [rbp + FRAME_PAIR + 8], rdx
    lea rax, [rbp + FRAME_PAIR]
    mov [rbp + FRAME_A5], rax
    without_sigsys FRAME_PAIR
11:
.endm

# The chunk is argument \argument, and \result says that it is over.
.macro in_chunks argument, result
    lea rcx, [rbp + FRAME_CHUNK]
    mov [rbp + \argument], rcx
    mov qword ptr [rbp + FRAME_TIMED_OUT], \result
.endm

# The mask of signals is argument \argument, whose length is the next.
.macro masked argument, length
    lea rdi, [rbp + \argument]
    call .Lwith_mask
    mov qword ptr [rbp + \length], 8
.endm

# r14: the moment so far from now as the timespec says that argument \argument points to; zero if that is now.
.macro from_now_by argument
    mov rsi, [rbp + \argument]
    call .Ltimespec
    jc .Linvalid
    call .Lfrom_now
.endm

.Lclock_gettime:
    mov rdi, [rbp + FRAME_A0]
    mov rsi, [rbp + FRAME_A1]
    checked rsi
    call mock_clock_blob_clock_gettime
    cdqe
    jmp .Lfinish

.Lgettimeofday:
    mov rdi, [rbp + FRAME_A0]
    mov rsi, [rbp + FRAME_A1]
    cmp rdi, 1
    jb 1f
    checked rdi
1:  cmp rsi, 1
    jb 2f
    checked rsi
2:  call mock_clock_blob_gettimeofday
    jmp .Lfinish

.Ltime:
    mov rdi, [rbp + FRAME_A0]
    cmp rdi, 1
    jb 1f
    checked rdi
1:  call mock_clock_blob_time
    jmp .Lfinish

.Lnanosleep:
    from_now_by FRAME_A0
    mov rcx, [rbp + FRAME_A1]
.Lsleep:
    # rcx: where an interrupted sleep writes what is left of it.
    mov [rbp + FRAME_REST], rcx
    # A poll of nothing sleeps as well, and takes a mask of signals.
    mov qword ptr [rbp + FRAME_CALL], SYS_PPOLL
    mov qword ptr [rbp + FRAME_A0], 0
    mov qword ptr [rbp + FRAME_A1], 0
    mov qword ptr [rbp + FRAME_A3], 0
    masked FRAME_A3, FRAME_A4
    in_chunks FRAME_A2, 0
    call .Lwait
    cmp rax, -EINTR
    jne .Lfinish
    call .Lremaining
    test rax, rax
    jz .Lfinish
    call .Lwrite_rest
    mov rax, -EINTR
    jmp .Lfinish

.Lclock_nanosleep:
    virtual_by_clock
    test dword ptr [rbp + FRAME_A1], TIMER_ABSTIME
    jnz 1f
    from_now_by FRAME_A2
    mov rcx, [rbp + FRAME_A3]
    jmp .Lsleep
1:  mov rsi, [rbp + FRAME_A2]
    call .Ltimespec
    jc .Linvalid
    mov ecx, [rbp + FRAME_A0]
    call .Lat
    xor ecx, ecx
    jmp .Lsleep

# Writes rax nanoseconds to where FRAME_REST says, if it says so.
.Lwrite_rest:
    call .Lseconds
# Writes rax and rdx there. Who gave constants is not told, and not ended: the kernel does the writing.
.Lwrite_pair:
    mov [rbp + FRAME_CHUNK], rax
    mov [rbp + FRAME_CHUNK + 8], rdx
    mov rcx, [rbp + FRAME_REST]
    test rcx, rcx
    jz 1f
    lea rdx, [rbp + FRAME_CHUNK]
    mov [rbp + FRAME_COPY], rdx
    mov qword ptr [rbp + FRAME_COPY + 8], 16
    mov [rbp + FRAME_COPY + 16], rcx
    mov qword ptr [rbp + FRAME_COPY + 24], 16
    mov eax, SYS_GETPID
    syscall
    mov rdi, rax
    lea rsi, [rbp + FRAME_COPY]
    mov edx, 1
    lea r10, [rbp + FRAME_COPY + 16]
    mov r8d, 1
    xor r9d, r9d
    mov eax, SYS_PROCESS_VM_WRITEV
    syscall
1:  ret

.Lfutex:
    mov ecx, [rbp + FRAME_A1]
    and ecx, FUTEX_COMMAND
    jz 1f
    # All the others wait until a moment: of the wall clock if it is asked for, or if it is the oldest of them.
    mov rsi, [rbp + FRAME_A3]
    call .Ltimespec
    jc .Linvalid
    mov edx, [rbp + FRAME_A1]
    mov ecx, edx
    and ecx, FUTEX_COMMAND
    cmp ecx, FUTEX_LOCK_PI
    je 2f
    cmp ecx, FUTEX_LOCK_PI2
    jne 5f
    mov qword ptr [rbp + FRAME_RESTARTS], 1
5:  and dword ptr [rbp + FRAME_A1], ~FUTEX_CLOCK_REALTIME
    mov ecx, CLOCK_MONOTONIC
    test edx, FUTEX_CLOCK_REALTIME
    jz 3f
    xor ecx, ecx
3:  call .Lat
    mov qword ptr [rbp + FRAME_KIND], UNTIL
    jmp 4f
2:  # Its younger sister waits for monotonic time, too.
    and edx, ~FUTEX_COMMAND
    or edx, FUTEX_LOCK_PI2
    mov [rbp + FRAME_A1], edx
    mov qword ptr [rbp + FRAME_RESTARTS], 1
    xor ecx, ecx
    jmp 3b
1:  from_now_by FRAME_A3
4:  in_chunks FRAME_A3, -ETIMEDOUT
    call .Lwait
    jmp .Lfinish

# Waits on one futex or many until the moment that argument \time points to, by the clock of argument \clock.
.macro until_by_clock time, clock
    mov ecx, [rbp + \clock]
    cmp ecx, CLOCK_MONOTONIC
    ja .Lpass
    mov rsi, [rbp + \time]
    call .Ltimespec
    jc .Linvalid
    mov ecx, [rbp + \clock]
    call .Lat
    mov qword ptr [rbp + \clock], CLOCK_MONOTONIC
    mov qword ptr [rbp + FRAME_KIND], UNTIL
    in_chunks \time, -ETIMEDOUT
    call .Lwait
    jmp .Lfinish
.endm

.Lfutex_wait:
    until_by_clock FRAME_A4, FRAME_A5

.Lfutex_waitv:
    until_by_clock FRAME_A3, FRAME_A4

.Lepoll_wait:
    mov qword ptr [rbp + FRAME_A4], 0
    mov qword ptr [rbp + FRAME_A5], 8
.Lepoll_pwait:
    without_sigsys FRAME_A4
    movsxd rax, dword ptr [rbp + FRAME_A3]
    test eax, eax
    jle .Lpass
    imul rax, rax, MILLISECOND
    call .Lfrom_now
    # Its own chunks are whole milliseconds, which are too coarse.
    mov qword ptr [rbp + FRAME_CALL], SYS_EPOLL_PWAIT2
.Lepoll:
    masked FRAME_A4, FRAME_A5
    in_chunks FRAME_A3, 0
    call .Lwait
    jmp .Lfinish

.Lepoll_pwait2:
    without_sigsys FRAME_A4
    cmp qword ptr [rbp + FRAME_A3], 0
    je .Lpass
    from_now_by FRAME_A3
    jmp .Lepoll

.Lpoll:
    movsxd rax, dword ptr [rbp + FRAME_A2]
    imul rax, rax, MILLISECOND
    call .Lfrom_now
    mov qword ptr [rbp + FRAME_CALL], SYS_PPOLL
    mov qword ptr [rbp + FRAME_A3], 0
    masked FRAME_A3, FRAME_A4
    in_chunks FRAME_A2, 0
    call .Lwait
    jmp .Lfinish

.Lppoll:
    without_sigsys FRAME_A3
    mov rcx, [rbp + FRAME_A2]
    test rcx, rcx
    jz .Lpass
    mov [rbp + FRAME_REST], rcx
    from_now_by FRAME_A2
    jz .Lpass
    masked FRAME_A3, FRAME_A4
    in_chunks FRAME_A2, 0
    call .Lwait
    jmp .Lfinish_with_rest

# The timeout that was given says now what is left of it.
.Lfinish_with_rest:
    push rax
    call .Lremaining
    call .Lwrite_rest
    pop rax
    jmp .Lfinish

.Lselect:
    mov rsi, [rbp + FRAME_A4]
    checked rsi
    mov [rbp + FRAME_REST], rsi
    mov rcx, [rsi + TV_USEC]
    test rcx, rcx
    js .Linvalid
    # More than a second of microseconds is allowed here.
    mov rax, rcx
    xor edx, edx
    mov ecx, 1000000
    div rcx
    add rax, [rsi + TV_SEC]
    imul rcx, rdx, 1000
    call .Lnanoseconds
    jc .Linvalid
    call .Lfrom_now
    jz .Lpass
    mov qword ptr [rbp + FRAME_CALL], SYS_PSELECT6
    mov qword ptr [rbp + FRAME_A5], 0
    call .Lselected
    push rax
    call .Lremaining
    call .Lmicroseconds
    call .Lwrite_pair
    pop rax
    jmp .Lfinish

.Lpselect6:
    without_sigsys_in_pair
    mov rcx, [rbp + FRAME_A4]
    test rcx, rcx
    jz .Lpass
    mov [rbp + FRAME_REST], rcx
    from_now_by FRAME_A4
    jz .Lpass
    call .Lselected
    jmp .Lfinish_with_rest

# How long it waits is for the kernel to say.
.Lio_pgetevents:
    without_sigsys_in_pair
    cmp qword ptr [rbp + FRAME_A4], 0
    jne .Lremarked
    jmp .Lpass

# Waits in pselect6. A chunk that is over has emptied the sets, so they are kept, and put back before each.
.Lselected:
    mov ecx, [rbp + FRAME_A0]
    cmp ecx, SET_MAX
    ja 1f
    add ecx, 63
    shr ecx, 6
    mov [rbp + FRAME_SETS], rcx
    mov rsi, [rbp + FRAME_A1]
    lea rdi, [rbp + FRAME_SET1]
    call .Lcopy_set
    mov rsi, [rbp + FRAME_A2]
    lea rdi, [rbp + FRAME_SET2]
    call .Lcopy_set
    mov rsi, [rbp + FRAME_A3]
    lea rdi, [rbp + FRAME_SET3]
    call .Lcopy_set
    jmp 2f
1:  # Some sleep like this, with no sets at all.
    mov rax, [rbp + FRAME_A1]
    or rax, [rbp + FRAME_A2]
    or rax, [rbp + FRAME_A3]
    jz 2f
    # Sets that have no room here are waited for in one piece; a jump of time comes too late for that.
    call .Lremark
    mov rax, -1
    shr rax, 2
    mov [rbp + FRAME_CAP], rax
2:  cmp qword ptr [rbp + FRAME_A5], 0
    jne 3f
    mov qword ptr [rbp + FRAME_PAIR], 0
    lea rax, [rbp + FRAME_PAIR]
    mov [rbp + FRAME_A5], rax
3:  masked FRAME_PAIR, (FRAME_PAIR + 8)
    in_chunks FRAME_A4, 0
    jmp .Lwait

.Lput_sets:
    cmp qword ptr [rbp + FRAME_SETS], 0
    je 1f
    mov rdi, [rbp + FRAME_A1]
    lea rsi, [rbp + FRAME_SET1]
    call .Lcopy_set
    mov rdi, [rbp + FRAME_A2]
    lea rsi, [rbp + FRAME_SET2]
    call .Lcopy_set
    mov rdi, [rbp + FRAME_A3]
    lea rsi, [rbp + FRAME_SET3]
    call .Lcopy_set
1:  ret

# Copies FRAME_SETS words from rsi to rdi, unless one of them is nowhere.
.Lcopy_set:
    test rsi, rsi
    jz 1f
    test rdi, rdi
    jz 1f
    checked rsi
    checked rdi
    mov rcx, [rbp + FRAME_SETS]
    cld
    rep movsq
1:  ret

.Lrt_sigtimedwait:
    without_sigsys FRAME_A0
    cmp qword ptr [rbp + FRAME_A2], 0
    je .Lpass
    from_now_by FRAME_A2
    in_chunks FRAME_A2, -EAGAIN
    call .Lwait
    jmp .Lfinish

.Lsemtimedop:
    from_now_by FRAME_A3
    # An operation that must not wait says the same as one that has waited for too long.
    mov qword ptr [rbp + FRAME_ELAPSED], 1
    in_chunks FRAME_A3, -EAGAIN
    call .Lwait
    jmp .Lfinish

.Lmq_timed:
    mov rsi, [rbp + FRAME_A4]
    call .Ltimespec
    jc .Linvalid
    xor ecx, ecx
    call .Lat
    mov qword ptr [rbp + FRAME_KIND], UNTIL_WALL
    mov qword ptr [rbp + FRAME_RESTARTS], 1
    in_chunks FRAME_A4, -ETIMEDOUT
    call .Lwait
    jmp .Lfinish

# The kernel looks at this timeout only when a message has come, so nobody waits for it. Messages are taken one by one:
# between them virtual time is looked at.
.Lrecvmmsg:
    mov rcx, [rbp + FRAME_A4]
    mov [rbp + FRAME_REST], rcx
    from_now_by FRAME_A4
    mov qword ptr [rbp + FRAME_A4], 0
    mov ecx, [rbp + FRAME_A2]
    mov [rbp + FRAME_CHUNKS], rcx
    mov qword ptr [rbp + FRAME_RESULT], 0
    mov qword ptr [rbp + FRAME_A2], 1
    call .Lunblock
1:  mov rax, [rbp + FRAME_RESULT]
    cmp rax, [rbp + FRAME_CHUNKS]
    jae .Lfinish_with_rest
    call .Lreal
    test rax, rax
    jle 2f
    inc qword ptr [rbp + FRAME_RESULT]
    add qword ptr [rbp + FRAME_A1], MESSAGE_LENGTH
    # It was to wait for the first one only.
    test dword ptr [rbp + FRAME_A3], MSG_WAITFORONE
    jz 3f
    or dword ptr [rbp + FRAME_A3], MSG_DONTWAIT
3:  call .Lnow
    cmp rax, r14
    jb 1b
    mov rax, [rbp + FRAME_RESULT]
    jmp .Lfinish_with_rest
2:  # Nothing more; that is no error if there was something.
    cmp qword ptr [rbp + FRAME_RESULT], 0
    cmovne rax, [rbp + FRAME_RESULT]
    jmp .Lfinish_with_rest

# What is submitted is submitted once, before the waiting.
.Lio_uring_enter:
    # Arguments that stand in memory of the ring's own.
    test dword ptr [rbp + FRAME_A3], URING_REGISTERED
    jnz .Lremarked
    mov rsi, [rbp + FRAME_A4]
    checked rsi
    mov rax, [rsi + URING_MASK]
    mov rdx, [rsi + URING_MASK_SIZE]
    mov rcx, [rsi + URING_TIME]
    mov [rbp + FRAME_COPY + URING_MASK], rax
    mov [rbp + FRAME_COPY + URING_MASK_SIZE], rdx
    mov [rbp + FRAME_COPY + URING_TIME], rcx
    lea rax, [rbp + FRAME_COPY]
    mov [rbp + FRAME_A4], rax
    without_sigsys (FRAME_COPY + URING_MASK)
    mov rsi, [rbp + FRAME_COPY + URING_TIME]
    test rsi, rsi
    jz .Lpass
    call .Ltimespec
    jc .Linvalid
    test dword ptr [rbp + FRAME_A3], URING_ABSOLUTE
    jz 1f
    and dword ptr [rbp + FRAME_A3], ~URING_ABSOLUTE
    mov ecx, CLOCK_MONOTONIC
    call .Lat
    jmp 2f
1:  call .Lfrom_now
2:  mov qword ptr [rbp + FRAME_REST], 0
    cmp dword ptr [rbp + FRAME_A1], 0
    je 3f
    mov rax, [rbp + FRAME_CALL]
    mov rdi, [rbp + FRAME_A0]
    mov rsi, [rbp + FRAME_A1]
    xor edx, edx
    mov r10d, [rbp + FRAME_A3]
    and r10d, ~(URING_WAIT | URING_GIVEN)
    xor r8d, r8d
    xor r9d, r9d
    syscall
    mov ecx, [rbp + FRAME_A1]
    cmp rax, rcx
    jne .Lfinish
    mov [rbp + FRAME_REST], rax
    mov qword ptr [rbp + FRAME_A1], 0
3:  lea rdi, [rbp + FRAME_COPY + URING_MASK]
    call .Lwith_mask
    mov dword ptr [rbp + FRAME_COPY + URING_MASK_SIZE], 8
    in_chunks (FRAME_COPY + URING_TIME), -ETIME
    call .Lwait
    cmp qword ptr [rbp + FRAME_REST], 0
    cmovne rax, [rbp + FRAME_REST]
    jmp .Lfinish
