//! Quantities: `500m`, `1Gi`, `2e3`.
