# One cargo line a recipe; everything works without just.

# Run the default suite.
run *ARGUMENTS:
    cargo run --release -- run {{ARGUMENTS}}

# All tests, each in its own process.
test *FILTER:
    cargo nextest run --workspace {{FILTER}}

# The long tests too, one after the other.
soak *FILTER:
    cargo nextest run --workspace --profile soak --run-ignored all {{FILTER}}

# What CI does.
ci:
    bash .ci/run

# All benchmarks; `just bench -p mock-clock` for one member.
bench *ARGUMENTS="--workspace":
    cargo bench --benches {{ARGUMENTS}}

# Make the generated parts of the documents anew.
generate:
    GENERATE=1 cargo test --test tidy generated_text_is_fresh

# Licences, sources and duplicates of the dependencies; needs cargo-deny.
deny:
    cargo deny check bans licenses sources
