# Words that the other files use.

# The call in rax is dealt with at \place.
.macro on number, place
    cmp eax, \number
    je \place
.endm

# The call in rax and its arguments, as the thread has made it, go into the frame.
.macro take_call
    mov [rbp + FRAME_CALL], rax
    mov [rbp + FRAME_NAMED], rax
    mov rcx, [rbx + UC_RDI]
    mov [rbp + FRAME_A0], rcx
    mov rcx, [rbx + UC_RSI]
    mov [rbp + FRAME_A1], rcx
    mov rcx, [rbx + UC_RDX]
    mov [rbp + FRAME_A2], rcx
    mov rcx, [rbx + UC_R10]
    mov [rbp + FRAME_A3], rcx
    mov rcx, [rbx + UC_R8]
    mov [rbp + FRAME_A4], rcx
    mov rcx, [rbx + UC_R9]
    mov [rbp + FRAME_A5], rcx
.endm

# A call that is to read or write where no program can have memory fails as it would in the kernel. (What else is no
# memory of the program's ends it.)
.macro checked pointer
    lea r11, [\pointer - 4096]
    shr r11, 56
    jnz .Lbad_address
.endm

# Only what is slept by one of the virtual clocks, which the first argument names, is dealt with here.
.macro virtual_by_clock
    mov ecx, [rbp + FRAME_A0]
    cmp ecx, 16
    jae .Lpass
    mov eax, VIRTUAL_SLEEPS
    bt eax, ecx
    jnc .Lpass
.endm
