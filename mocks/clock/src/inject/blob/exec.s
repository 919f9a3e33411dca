# Starting another program: it keeps the filter, but not what the filter needs. So the owner is asked to be there.

.Lexec:
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
    call .Lnap
    jmp 2b
3:  mov rax, [r12 + SHARED + HEAD_EXEC_ERROR]
    neg rax
    jnz 4f
    call .Lreal
4:  # Still here: there is no such program, or it must not be.
    mov [r12 + SHARED + HEAD_EXEC_FAILED], r14
5:  cmp [r12 + SHARED + HEAD_EXEC_FAILED], r14
    jne .Lfinish
    push rax
    call .Lnap
    pop rax
    jmp 5b

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
