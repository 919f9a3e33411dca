# SIGSYS stays ours and is never blocked: a trap while it is blocked would kill the process.

# A handler of the program's own for SIGSYS is taken note of by nobody; masks of other handlers lose SIGSYS.
.Lrt_sigaction:
    cmp dword ptr [rbp + FRAME_A0], SIGSYS
    je 2f
    mov rsi, [rbp + FRAME_A1]
    test rsi, rsi
    jz .Lpass
    checked rsi
    mov rax, [rsi]
    mov [rbp + FRAME_COPY], rax
    mov rax, [rsi + 8]
    mov [rbp + FRAME_COPY + 8], rax
    mov rax, [rsi + 16]
    mov [rbp + FRAME_COPY + 16], rax
    mov rax, [rsi + ACTION_MASK]
    btr rax, SIGSYS - 1
    mov [rbp + FRAME_COPY + ACTION_MASK], rax
    lea rax, [rbp + FRAME_COPY]
    mov [rbp + FRAME_A1], rax
    jmp .Lpass
2:  mov rsi, [rbp + FRAME_A2]
    test rsi, rsi
    jz 3f
    checked rsi
    call .Lclear_copy
3:  xor eax, eax
    jmp .Lfinish

# The mask is the one that the thread gets back when the handler returns.
.Lrt_sigprocmask:
    cmp qword ptr [rbp + FRAME_A3], 8
    jne .Linvalid
    mov rcx, [rbx + UC_SIGMASK]
    mov rdx, rcx
    mov rsi, [rbp + FRAME_A1]
    test rsi, rsi
    jz 4f
    checked rsi
    mov rax, [rsi]
    mov esi, [rbp + FRAME_A0]
    cmp esi, SIG_UNBLOCK
    jb 1f
    je 2f
    cmp esi, SIG_SETMASK
    jne .Linvalid
    mov rdx, rax
    jmp 3f
1:  or rdx, rax
    jmp 3f
2:  not rax
    and rdx, rax
3:  btr rdx, SIGSYS - 1
    btr rdx, SIGKILL - 1
    btr rdx, SIGSTOP - 1
    mov [rbx + UC_SIGMASK], rdx
4:  mov rsi, [rbp + FRAME_A2]
    test rsi, rsi
    jz 5f
    checked rsi
    mov [rsi], rcx
5:  xor eax, eax
    jmp .Lfinish

.Lrt_sigsuspend:
    without_sigsys FRAME_A0
    jmp .Lpass
