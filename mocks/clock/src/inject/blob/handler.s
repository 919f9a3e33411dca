# The handler of SIGSYS: every system call that the filter trapped comes by here, and leaves with its result.
#
# The kernel has saved all registers and puts them back, so none need be kept. In here
#   rbx  is the saved state of the thread (struct ucontext),
#   r12  the beginning of the region,
#   rbp  the frame,
#   r13  the entry in the table of waits, or 0,
#   r14  the virtual deadline.
# A call is copied into the frame, changed there, and made from there.
#
# All signals that others send are blocked in here, and let in only while a real call is made: see waits.s.

.globl mock_clock_blob_handler
mock_clock_blob_handler:
    mov rax, rsp
    sub rsp, FRAME_LENGTH
    and rsp, -64
    mov rbp, rsp
    mov [rbp + FRAME_ENTRY], rax
    mov rbx, rdx
    lea r12, [rip + mock_clock_blob]
    xor r13d, r13d
    cmp dword ptr [rsi + SI_CODE], SYS_SECCOMP
    jne .Lsent_by_somebody
    movsxd r15, dword ptr [rsi + SI_SYSCALL]
    mov eax, 1
    lock xadd [r12 + SHARED + HEAD_TRAPS], rax
    # Now and then: some never wait, and start others for ever.
    test al, 63
    jnz 1f
    call .Lend_with_owner
1:  mov rax, r15
    take_call
    mov qword ptr [rbp + FRAME_KIND], RELATIVE
    mov qword ptr [rbp + FRAME_SETS], 0
    mov qword ptr [rbp + FRAME_ELAPSED], 0
    mov qword ptr [rbp + FRAME_RESTARTS], 0
    mov qword ptr [rbp + FRAME_CHUNKS], 0
    mov qword ptr [rbp + FRAME_CAP], 0
    mov qword ptr [rbp + FRAME_MASKED], 0
    # The vDSO itself makes a call where the machine's counter cannot be trusted. That one is real.
    mov rcx, [rbx + UC_RIP]
    cmp rcx, [r12 + LOCAL + LOCAL_VDSO]
    jb 1f
    cmp rcx, [r12 + LOCAL + LOCAL_VDSO_END]
    jb .Lpass
1:
    on SYS_CLOCK_GETTIME, .Lclock_gettime
    on SYS_GETTIMEOFDAY, .Lgettimeofday
    on SYS_TIME, .Ltime
    on SYS_FUTEX, .Lfutex
    on SYS_NANOSLEEP, .Lnanosleep
    on SYS_CLOCK_NANOSLEEP, .Lclock_nanosleep
    on SYS_EPOLL_WAIT, .Lepoll_wait
    on SYS_EPOLL_PWAIT, .Lepoll_pwait
    on SYS_EPOLL_PWAIT2, .Lepoll_pwait2
    on SYS_POLL, .Lpoll
    on SYS_PPOLL, .Lppoll
    on SYS_SELECT, .Lselect
    on SYS_PSELECT6, .Lpselect6
    on SYS_RT_SIGPROCMASK, .Lrt_sigprocmask
    on SYS_RT_SIGACTION, .Lrt_sigaction
    on SYS_RT_SIGSUSPEND, .Lrt_sigsuspend
    on SYS_RT_SIGTIMEDWAIT, .Lrt_sigtimedwait
    on SYS_SEMTIMEDOP, .Lsemtimedop
    on SYS_MQ_TIMEDSEND, .Lmq_timed
    on SYS_MQ_TIMEDRECEIVE, .Lmq_timed
    on SYS_RECVMMSG, .Lrecvmmsg
    on SYS_FUTEX_WAIT, .Lfutex_wait
    on SYS_FUTEX_WAITV, .Lfutex_waitv
    on SYS_IO_URING_ENTER, .Lio_uring_enter
    on SYS_IO_PGETEVENTS, .Lio_pgetevents
    on SYS_EXECVE, .Lexec
    on SYS_EXECVEAT, .Lexec
    on SYS_SETITIMER, .Lsetitimer
    on SYS_GETITIMER, .Lgetitimer
    on SYS_ALARM, .Lalarm
    on SYS_TIMER_CREATE, .Ltimer_create
    on SYS_TIMER_SETTIME, .Ltimer_settime
    on SYS_TIMER_GETTIME, .Ltimer_gettime
    on SYS_TIMER_DELETE, .Ltimer_delete
    on SYS_TIMERFD_CREATE, .Ltimerfd_create
    on SYS_TIMERFD_SETTIME, .Ltimerfd_settime
    on SYS_TIMERFD_GETTIME, .Ltimerfd_gettime
    # Whatever else is trapped is only remarked.
.Lremarked:
    call .Lremark

# The call is made as it stands in the frame, with the program's own signals blocked and no others.
.Lpass:
    call .Lunblock
    call .Lreal

# rax is the result of the call.
.Lfinish:
    mov [rbx + UC_RAX], rax
    mov rsp, [rbp + FRAME_ENTRY]
    ret

.Linvalid:
    mov rax, -EINVAL
    jmp .Lfinish

.Lbad_address:
    mov rax, -EFAULT
    jmp .Lfinish

# The thread has its own mask of signals again.
.Lunblock:
    lea rsi, [rbx + UC_SIGMASK]
.Lset_mask:
    mov edi, SIG_SETMASK
    xor edx, edx
    mov r10d, 8
    mov eax, SYS_RT_SIGPROCMASK
    syscall
    ret

# Makes the call that stands in the frame; rax: its result.
.Lreal:
    mov rax, [rbp + FRAME_CALL]
    mov rdi, [rbp + FRAME_A0]
    mov rsi, [rbp + FRAME_A1]
    mov rdx, [rbp + FRAME_A2]
    mov r10, [rbp + FRAME_A3]
    mov r8, [rbp + FRAME_A4]
    mov r9, [rbp + FRAME_A5]
    syscall
    ret

# Where the handler returns to.
.globl mock_clock_blob_restorer
mock_clock_blob_restorer:
    mov eax, SYS_RT_SIGRETURN
.globl mock_clock_blob_syscall
mock_clock_blob_syscall:
    syscall

# A SIGSYS that no filter has sent ends the process, as it does everywhere.
.Lsent_by_somebody:
    lea rsi, [rbp + FRAME_COPY]
    call .Lclear_copy
    mov edi, SIGSYS
    xor edx, edx
    mov r10d, 8
    mov eax, SYS_RT_SIGACTION
    syscall
    mov eax, SYS_GETPID
    syscall
    mov r14, rax
    mov eax, SYS_GETTID
    syscall
    mov rdi, r14
    mov rsi, rax
    mov edx, SIGSYS
    mov eax, SYS_TGKILL
    syscall
    ud2

# Empties the four words at rsi.
.Lclear_copy:
    xor eax, eax
    mov [rsi], rax
    mov [rsi + 8], rax
    mov [rsi + 16], rax
    mov [rsi + 24], rax
    ret
