# One cargo line a recipe; everything works without just.

# The main job.
run *ARGUMENTS:
    cargo run --release -- run {{ARGUMENTS}}

# All tests, each in its own process.
test *FILTER:
    cargo nextest run {{FILTER}}

# The long tests too, one after the other.
soak *FILTER:
    cargo nextest run --profile soak --run-ignored all {{FILTER}}

# What CI does.
ci:
    bash .ci/run

# What each step costs, cold and warm.
timings:
    bash .ci/timings

# The package of each member.
packages:
    bash .ci/packages

# All benchmarks; `just bench -p mock-clock` for one member.
bench *ARGUMENTS:
    cargo bench --benches {{ARGUMENTS}}

# Every answer of mock-hetzner against a published description of the API, which you bring: `just describe openapi.json`.
describe DESCRIPTION *ARGUMENTS:
    mocks/hetzner/tests/description/check {{DESCRIPTION}} {{ARGUMENTS}}

# Regenerate the generated parts of the documents.
generate:
    GENERATE=1 cargo test --test tidy generated_text_is_fresh

# Licences, sources and duplicates of the dependencies; needs cargo-deny.
deny:
    cargo deny check bans licenses sources
