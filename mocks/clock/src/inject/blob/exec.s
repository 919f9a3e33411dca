# Starting another program: it keeps the filter, but not what the filter needs. So the owner is asked to be there.

.Lexec:
    # Along a search path most of what is tried is not there. That takes no owner.
    cmp qword ptr [rbp + FRAME_CALL], SYS_EXECVE
    jne 0f
    mov rdi, [rbp + FRAME_A0]
    xor esi, esi
    mov eax, SYS_ACCESS
    syscall
    cmp rax, -ENOENT
    je .Lfinish
0:
    # No signal may lead away from here, or the owner would wait for nobody. The owner gives the mask to the new program;
    # should there be none, the thread gets its own back when the handler returns.
    mov qword ptr [rbp + FRAME_MASK], -1
    mov edi, SIG_SETMASK
    lea rsi, [rbp + FRAME_MASK]
    xor edx, edx
    mov r10d, 8
    mov eax, SYS_RT_SIGPROCMASK
    syscall
    call .Lwho
    mov r14, rax
    # One at a time.
1:  xor eax, eax
    lock cmpxchg [r12 + SHARED + HEAD_EXEC_REQUEST], r14
    je 2f
    call .Lnap
    jmp 1b
2:  cmp [r12 + SHARED + HEAD_EXEC_ANSWER], r14
    je 3f
    mov rax, -EPERM
    cmp [r12 + SHARED + HEAD_EXEC_REQUEST], r14
    jne .Lfinish
    call .Lnap
    jmp 2b
3:  mov rax, [rbx + UC_SIGMASK]
    mov [r12 + SHARED + HEAD_EXEC_MASK], rax
    call .Lreal
    # Still here: there is no such program.
    mov [r12 + SHARED + HEAD_EXEC_FAILED], r14
4:  cmp [r12 + SHARED + HEAD_EXEC_FAILED], r14
    jne .Lfinish
    push rax
    call .Lnap
    pop rax
    jmp 4b

# A moment of real time.
.Lnap:
    mov qword ptr [rbp + FRAME_CHUNK + TV_SEC], 0
    mov qword ptr [rbp + FRAME_CHUNK + TV_NSEC], NAP
    lea rdi, [rbp + FRAME_CHUNK]
    xor esi, esi
    mov eax, SYS_NANOSLEEP
    syscall
    jmp .Lend_with_owner

# Remarks that this process makes the call in the frame, which the clock does not move; once.
.Lremark:
    mov eax, SYS_GETPID
    syscall
    mov edi, eax
    mov eax, [rbp + FRAME_NAMED]
    shl rax, 32
    or rdi, rax
    lea rsi, [r12 + SHARED + REMARKS]
    mov edx, REMARKS_MAX
1:  cmp [rsi], rdi
    je 3f
    xor eax, eax
    lock cmpxchg [rsi], rdi
    je 2f
    add rsi, REMARK_LENGTH
    dec edx
    jnz 1b
2:  lock inc qword ptr [r12 + SHARED + HEAD_REMARKS_MADE]
3:  ret
