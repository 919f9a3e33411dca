# Timers in the kernel: setitimer and alarm, POSIX timers, timerfd. The kernel would count real time, so they are not set
# there. They stand in the table of alarms, and when one is due its owner has the kernel fire it at once.
#
# In here r13 is the entry, r14 the virtual moment at which it is due, or 0, and r15 its interval.

# Finds the entry of timer \which, as call \call sets it; where there is none, it is made. Without room for one the timer
# is real, and remarked upon.
.macro entry_of call, which
    mov edi, \call
    mov rsi, \which
    call .Lfind_alarm
    test r13, r13
    jz .Lreal_alarm
.endm

.Lreal_alarm:
    call .Lremark
    jmp .Lpass

# r13: the entry of timer rsi, as call edi sets it; where there is none, one that was free; 0 if none is. rdi: the word by
# which it is known.
.Lfind_alarm:
    call .Lknown_alarm
    test r13, r13
    jnz 3f
    lea r13, [r12 + SHARED + ALARMS]
    mov edx, ALARMS_MAX
1:  cmp qword ptr [r13], 0
    jne 2f
    xor eax, eax
    lock cmpxchg [r13], rdi
    jne 2f
    mov [r13 + ALARM_WHICH], rsi
    mov qword ptr [r13 + ALARM_DEADLINE], 0
    mov qword ptr [r13 + ALARM_INTERVAL], 0
    ret
2:  add r13, ALARM_LENGTH
    dec edx
    jnz 1b
    xor r13d, r13d
3:  ret

# rdi: process id, and the call edi above it.
.Lalarm_word:
    shl rdi, 32
    mov eax, SYS_GETPID
    syscall
    or rdi, rax
    ret

# Sets the entry.
.Lset_alarm:
    mov qword ptr [r13 + ALARM_DEADLINE], 0
    mov [r13 + ALARM_INTERVAL], r15
    mov [r13 + ALARM_DEADLINE], r14
    lock inc qword ptr [r13 + ALARM_SET]
    ret

# rax: nanoseconds until the entry is due; 0 if it is not set, and at least 1 if it is.
.Lalarm_rest:
    mov r14, [r13 + ALARM_DEADLINE]
    xor eax, eax
    test r14, r14
    jz 1f
    call .Lremaining
    mov ecx, 1
    test rax, rax
    cmovz rax, rcx
1:  ret

# rax: the nanoseconds of the timeval at rsi; carry if it is none.
.Ltimeval:
    checked rsi
    mov rax, [rsi + TV_SEC]
    mov rcx, [rsi + TV_USEC]
    cmp rcx, 1000000
    jae .Lno_time
    imul rcx, rcx, 1000
    jmp .Lnanoseconds

# Writes the entry to rsi, as timevals.
.Ltell_itimerval:
    checked rsi
    mov rax, [r13 + ALARM_INTERVAL]
    call 1f
    mov [rsi + IT_INTERVAL + TV_SEC], rax
    mov [rsi + IT_INTERVAL + TV_USEC], rdx
    push rsi
    call .Lalarm_rest
    pop rsi
    call 1f
    mov [rsi + IT_VALUE + TV_SEC], rax
    mov [rsi + IT_VALUE + TV_USEC], rdx
    ret
1:  # Rounded up: what is still to come is never nothing.
    add rax, 999
    jmp .Lmicroseconds

# Writes the entry to rsi, as timespecs.
.Ltell_itimerspec:
    checked rsi
    mov rax, [r13 + ALARM_INTERVAL]
    call .Lseconds
    mov [rsi + IT_INTERVAL + TV_SEC], rax
    mov [rsi + IT_INTERVAL + TV_NSEC], rdx
    push rsi
    call .Lalarm_rest
    pop rsi
    call .Lseconds
    mov [rsi + IT_VALUE + TV_SEC], rax
    mov [rsi + IT_VALUE + TV_NSEC], rdx
    ret

.Lsetitimer:
    # What is not given is all zeros, here.
    xor r15d, r15d
    mov [rbp + FRAME_REST], r15
    mov rsi, [rbp + FRAME_A1]
    test rsi, rsi
    jz 2f
    call .Ltimeval
    jc .Linvalid
    mov r15, rax
    add rsi, IT_VALUE
    call .Ltimeval
    jc .Linvalid
    mov [rbp + FRAME_REST], rax
2:  entry_of SYS_SETITIMER, 0
    mov rsi, [rbp + FRAME_A2]
    test rsi, rsi
    jz 1f
    call .Ltell_itimerval
1:  mov rax, [rbp + FRAME_REST]
    call .Ldue
    call .Lset_alarm
    xor eax, eax
    jmp .Lfinish

# r14: the moment rax from now, or 0 if rax is 0.
.Ldue:
    xor r14d, r14d
    test rax, rax
    jz 1f
    call .Lfrom_now
1:  ret

.Lgetitimer:
    entry_of SYS_SETITIMER, 0
    mov rsi, [rbp + FRAME_A1]
    call .Ltell_itimerval
    xor eax, eax
    jmp .Lfinish

.Lalarm:
    entry_of SYS_SETITIMER, 0
    call .Lalarm_rest
    mov [rbp + FRAME_REST], rax
    mov eax, [rbp + FRAME_A0]
    imul rax, rax, SECOND
    call .Ldue
    xor r15d, r15d
    call .Lset_alarm
    mov rax, [rbp + FRAME_REST]
    call .Lseconds
    # Rounded to the nearer second, but a set alarm is never said to have no time left.
    cmp rdx, SECOND / 2
    jae 1f
    test rax, rax
    jnz .Lfinish
    test rdx, rdx
    jz .Lfinish
1:  inc rax
    jmp .Lfinish

.Ltimer_create:
    virtual_by_clock
    call .Lreal
    test rax, rax
    jnz .Lfinish
    mov rsi, [rbp + FRAME_A2]
    movsxd rsi, dword ptr [rsi]
    mov edi, SYS_TIMER_SETTIME
    call .Lfind_alarm
    # Only a timer that stands in the table is virtual; its clock is needed when it is set to a moment.
    test r13, r13
    jz 1f
    mov ecx, [rbp + FRAME_A0]
    mov [r13 + ALARM_CLOCK], rcx
    mov qword ptr [r13 + ALARM_DEADLINE], 0
    jmp 2f
1:  call .Lremark
2:  xor eax, eax
    jmp .Lfinish

# Timers of processor time have no entry.
.macro known_timer
    mov edi, SYS_TIMER_SETTIME
    movsxd rsi, dword ptr [rbp + FRAME_A0]
    call .Lknown_alarm
    test r13, r13
    jz .Lpass
.endm

# As .Lfind_alarm, and makes none.
.Lknown_alarm:
    call .Lalarm_word
    lea r13, [r12 + SHARED + ALARMS]
    mov edx, ALARMS_MAX
1:  cmp [r13], rdi
    jne 2f
    cmp [r13 + ALARM_WHICH], rsi
    je 3f
2:  add r13, ALARM_LENGTH
    dec edx
    jnz 1b
    xor r13d, r13d
3:  ret

.Ltimer_settime:
    known_timer
    mov rcx, [r13 + ALARM_CLOCK]
    call .Lset_itimerspec
    jc .Linvalid
    xor eax, eax
    jmp .Lfinish

# A new one may have the number of one that was closed while it was set.
.Ltimerfd_create:
    call .Lreal
    test rax, rax
    js .Lfinish
    mov [rbp + FRAME_REST], rax
    mov rsi, rax
    mov edi, SYS_TIMERFD_SETTIME
    call .Lknown_alarm
    mov rax, [rbp + FRAME_REST]
    test r13, r13
    jz .Lfinish
    mov qword ptr [r13 + ALARM_DEADLINE], 0
    mov qword ptr [r13], 0
    jmp .Lfinish

.Ltimerfd_settime:
    mov edi, SYS_TIMERFD_SETTIME
    movsxd rsi, dword ptr [rbp + FRAME_A0]
    call .Lfind_alarm
    test r13, r13
    jz .Lreal_alarm
    # Of a file the clock is not known, but moments of wall time are many years after its beginning.
    mov rsi, [rbp + FRAME_A2]
    checked rsi
    xor ecx, ecx
    cmp qword ptr [rsi + IT_VALUE + TV_SEC], WALL_SECONDS_LEAST
    setb cl
    call .Lset_itimerspec
    jc .Linvalid
    # In the kernel it is taken back: expirations that were not read are gone.
    lea rsi, [rbp + FRAME_COPY]
    call .Lclear_copy
    mov [rbp + FRAME_A2], rsi
    mov qword ptr [rbp + FRAME_A1], 0
    mov qword ptr [rbp + FRAME_A3], 0
    call .Lreal
    test rax, rax
    jz .Lfinish
    # No timer at all.
    mov qword ptr [r13 + ALARM_DEADLINE], 0
    mov qword ptr [r13], 0
    jmp .Lfinish

# Sets the entry to the itimerspec that argument 2 points to, by clock rcx, and tells argument 3 what it was; carry if that
# is none. Both calls have their arguments in the same places.
.Lset_itimerspec:
    mov [rbp + FRAME_NAMED_CLOCK], rcx
    mov rsi, [rbp + FRAME_A2]
    call .Ltimespec
    jc 9f
    mov r15, rax
    add rsi, IT_VALUE
    call .Ltimespec
    jc 9f
    mov [rbp + FRAME_REST], rax
    mov rsi, [rbp + FRAME_A3]
    test rsi, rsi
    jz 1f
    call .Ltell_itimerspec
1:  mov rax, [rbp + FRAME_REST]
    test dword ptr [rbp + FRAME_A1], TIMER_ABSTIME
    jz 2f
    test rax, rax
    jz 2f
    mov ecx, [rbp + FRAME_NAMED_CLOCK]
    call .Lat
    jmp 3f
2:  call .Ldue
3:  call .Lset_alarm
    clc
9:  ret

.Ltimer_gettime:
    known_timer
    mov rsi, [rbp + FRAME_A1]
    call .Ltell_itimerspec
    xor eax, eax
    jmp .Lfinish

.Ltimerfd_gettime:
    mov edi, SYS_TIMERFD_SETTIME
    movsxd rsi, dword ptr [rbp + FRAME_A0]
    call .Lknown_alarm
    test r13, r13
    jz .Lpass
    mov rsi, [rbp + FRAME_A1]
    call .Ltell_itimerspec
    xor eax, eax
    jmp .Lfinish

.Ltimer_delete:
    known_timer
    mov qword ptr [r13 + ALARM_DEADLINE], 0
    mov qword ptr [r13], 0
    jmp .Lpass
