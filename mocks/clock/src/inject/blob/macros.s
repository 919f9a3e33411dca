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
