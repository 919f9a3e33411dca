# Waiting until a virtual moment: in chunks of real time, with the deadline published.

# Waits as the frame says: the call is made again and again, each time for a chunk, until it has another result than
# FRAME_TIMED_OUT or the virtual moment r14 has come. rax: the result.
#
# Each time the chunk is written into FRAME_CHUNK, which one of the arguments must point to: as FRAME_KIND says.
#
# A signal that comes is for the program, whose handler runs; and the wait ends with EINTR, as it does everywhere. It must
# not come between two chunks, where nobody would be told of it. So signals are blocked, but for the call itself. A call
# that takes a mask lets them in while it waits and not longer (FRAME_MASKED). For the others they are unblocked before
# and blocked after it; then whether a handler has run is seen on the stack, where it has left its traces.
.Lwait:
    call .Lpublish
1:  call .Lchunk
    call .Lput_sets
    cmp qword ptr [rbp + FRAME_MASKED], 0
    je 5f
    call .Lreal
    jmp 6f
5:  call .Lreal_with_signals
6:  cmp rax, [rbp + FRAME_TIMED_OUT]
    jne 2f
    cmp qword ptr [rbp + FRAME_ELAPSED], 0
    jne 3f
4:  call .Lnow
    cmp rax, r14
    mov rax, [rbp + FRAME_TIMED_OUT]
    jae 2f
    test r13, r13
    jnz 7f
    call .Ljoin_table
7:  inc qword ptr [rbp + FRAME_CHUNKS]
    test qword ptr [rbp + FRAME_CHUNKS], 63
    jnz 1b
    call .Lend_with_owner
    jmp 1b
2:  push rax
    call .Lwithdraw
    pop rax
    ret
3:  # This call may say the same for another reason: then it says so before the chunk has passed.
    call .Lreal_now
    cmp rax, [rbp + FRAME_CHUNK_END]
    mov rax, [rbp + FRAME_TIMED_OUT]
    jb 2b
    jmp 4b

# The mask of a call that has an argument for it is that of the program, if that has given none.
.Lwith_mask:
    mov qword ptr [rbp + FRAME_MASKED], 1
    cmp qword ptr [rdi], 0
    jne 1f
    lea rcx, [rbx + UC_SIGMASK]
    mov [rdi], rcx
1:  ret

# Makes the call in the frame with signals unblocked. A call that has timed out while a handler ran was interrupted.
#
# The handler's frame begins right below what the stack keeps free for functions that need none, with the state of the
# processor, and that ends with a word of the kernel's.
.Lreal_with_signals:
    mov rcx, FREE_STACK
    lea rdx, [rsp - UNUSED_STACK - FREE_STACK*8]
1:  mov [rdx + 8*rcx - 8], rdx
    dec rcx
    jnz 1b
    mov r15, rdx
    call .Lunblock
    call .Lreal
    mov [rbp + FRAME_RESULT], rax
    mov rcx, ASYNCHRONOUS
    mov [rbp + FRAME_BLOCKED], rcx
    lea rsi, [rbp + FRAME_BLOCKED]
    call .Lset_mask
    mov rax, [rbp + FRAME_RESULT]
    cmp rax, [rbp + FRAME_TIMED_OUT]
    jne 3f
    mov rcx, FREE_STACK
2:  cmp [r15 + 8*rcx - 8], r15
    jne 4f
    dec rcx
    jnz 2b
3:  ret
4:  # Some calls go on after a signal.
    cmp qword ptr [rbp + FRAME_RESTARTS], 0
    jne 3b
    mov rax, -EINTR
    ret

# Writes the next chunk.
.Lchunk:
    call .Lnow
    mov rcx, r14
    sub rcx, rax
    jbe 2f
    call .Lto_real
    # Never shorter than the floor, unless that is all that is wanted: a sleeping thread must not become a spinning one.
    mov edx, [r12 + CLOCK + CLOCK_FLOOR]
    cmp rcx, rdx
    cmova rcx, rdx
    cmp rax, rcx
    cmovb rax, rcx
    mov rcx, [rbp + FRAME_CAP]
    test rcx, rcx
    cmovz rcx, [r12 + CLOCK + CLOCK_CAP]
    cmp rax, rcx
    cmova rax, rcx
    jmp 1f
2:  xor eax, eax
1:  cmp qword ptr [rbp + FRAME_ELAPSED], 0
    jne 4f
    cmp qword ptr [rbp + FRAME_KIND], RELATIVE
    je 3f
4:  push rax
    mov edi, CLOCK_MONOTONIC
    cmp qword ptr [rbp + FRAME_KIND], UNTIL_WALL
    jne 5f
    xor edi, edi
5:  call .Lreal_now_of
    mov rdx, rax
    pop rax
    add rdx, rax
    mov [rbp + FRAME_CHUNK_END], rdx
    cmp qword ptr [rbp + FRAME_KIND], RELATIVE
    cmovne rax, rdx
3:  call .Lseconds
    mov [rbp + FRAME_CHUNK + TV_SEC], rax
    mov [rbp + FRAME_CHUNK + TV_NSEC], rdx
    ret

# rcx virtual nanoseconds are rax real ones, rounded up.
.Lto_real:
    mov rax, rcx
    mul qword ptr [r12 + CLOCK + CLOCK_INVERSE]
    shrd rax, rdx, 40
    inc rax
    ret

# rax: the machine's own monotonic time, or that of clock edi.
.Lreal_now:
    mov edi, CLOCK_MONOTONIC
.Lreal_now_of:
    lea rsi, [rbp + FRAME_REAL]
    push rbp
    mov rbp, rsp
    and rsp, -16
    call qword ptr [r12 + LOCAL + LOCAL_CLOCK_GETTIME]
    mov rsp, rbp
    pop rbp
    imul rax, [rbp + FRAME_REAL + TV_SEC], SECOND
    add rax, [rbp + FRAME_REAL + TV_NSEC]
    ret

# r14: the moment rax nanoseconds from now; zero if that is now.
.Lfrom_now:
    push rax
    call .Lnow
    pop r14
    add rax, r14
    test r14, r14
    mov r14, rax
    ret

# r14: the virtual monotonic moment at which clock ecx shows rax; the first moment of all, if it never did.
.Lat:
    mov ecx, ecx
    sub rax, [r12 + CLOCK + CLOCK_OFFSETS + 8*rcx]
    mov r14d, 1
    cmp rax, 1
    cmovge r14, rax
    ret

# rax: virtual nanoseconds until r14.
.Lremaining:
    call .Lnow
    mov rcx, r14
    xor edx, edx
    sub rcx, rax
    cmovb rcx, rdx
    mov rax, rcx
    ret

# rax: the nanoseconds of the timespec at rsi, or a far future; carry if it is no timespec.
.Ltimespec:
    checked rsi
    mov rax, [rsi + TV_SEC]
    mov rcx, [rsi + TV_NSEC]
    cmp rcx, SECOND
    jae .Lno_time
.Lnanoseconds:
    test rax, rax
    js .Lno_time
    mov edx, SECONDS_MAX
    cmp rax, rdx
    ja 1f
    imul rax, rax, SECOND
    add rax, rcx
    clc
    ret
1:  mov eax, 1
    shl rax, 62
    clc
    ret
.Lno_time:
    stc
    ret

# Publishes the deadline r14 in the table of waits, or joins the crowd that found no entry.
.Lpublish:
    call .Ltake_entry
    test r13, r13
    jnz 1f
    lock inc qword ptr [r12 + SHARED + HEAD_CROWDED]
1:  ret

# Leaves the crowd, if there is an entry by now.
.Ljoin_table:
    call .Ltake_entry
    test r13, r13
    jz 1f
    lock dec qword ptr [r12 + SHARED + HEAD_CROWDED]
1:  ret

# r13: an entry with the deadline r14, or 0 if none is free.
.Ltake_entry:
    call .Lwho
    mov [rbp + FRAME_WHO], rax
    mov rdi, rax
    xor edx, edx
    lea r13, [r12 + SHARED + WAITS]
1:  cmp qword ptr [r13], 0
    jne 2f
    xor eax, eax
    lock cmpxchg [r13], rdi
    je 3f
2:  add r13, WAIT_LENGTH
    inc edx
    cmp edx, WAITS_MAX
    jb 1b
    xor r13d, r13d
    ret
3:  # So many entries have ever been used.
    inc edx
    mov rax, [r12 + SHARED + HEAD_WAITS_TOP]
4:  cmp rax, rdx
    jae 5f
    lock cmpxchg [r12 + SHARED + HEAD_WAITS_TOP], rdx
    jne 4b
5:  mov eax, 1
    lock xadd [r12 + SHARED + HEAD_WAITS_BEGUN], rax
    mov [r13 + WAIT_NUMBER], rax
    movsxd rax, dword ptr [rbp + FRAME_NAMED]
    mov [r13 + WAIT_CALL], rax
    mov [r13 + WAIT_DEADLINE], r14
    # Whoever looks must see it before this thread sleeps.
    mfence
    ret

# Takes it back. From here on the thread is one that works. The owner may have given an entry that seemed forsaken away.
.Lwithdraw:
    test r13, r13
    jz 1f
    mov rax, [rbp + FRAME_WHO]
    cmp [r13], rax
    jne 2f
    mov qword ptr [r13 + WAIT_DEADLINE], 0
    xor ecx, ecx
    lock cmpxchg [r13], rcx
2:  xor r13d, r13d
    ret
1:  lock dec qword ptr [r12 + SHARED + HEAD_CROWDED]
    ret

# rax: the thread id, the process id above it. They are asked for each time: a forked process has others.
.Lwho:
    mov eax, SYS_GETPID
    syscall
    shl rax, 32
    push rax
    mov eax, SYS_GETTID
    syscall
    pop rcx
    or rax, rcx
    ret
