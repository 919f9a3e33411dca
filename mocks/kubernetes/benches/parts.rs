//! What the steps of a write cost, without a wire: `cargo bench -p mock-kubernetes --bench parts`.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot start has nothing to measure")]

#[path = "control_plane/pod.rs"]
mod pod;

use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use mock_kubernetes::parts::Parts;

fn pods(c: &mut Criterion) {
    let body = pod::pod(0);
    let mut parts = Parts::new(&body).unwrap();
    let value = parts.read(&body).unwrap();
    let mut group = c.benchmark_group("pod");
    group.bench_function("read", |b| b.iter(|| parts.read(&body).unwrap()));
    group.bench_function("conform", |b| b.iter(|| parts.conform().unwrap()));
    group.bench_function("create", |b| b.iter(|| parts.create_another(&value).unwrap()));
    group.bench_function("patch", |b| b.iter(|| parts.patch().unwrap()));
    group.bench_function("protobuf from value", |b| b.iter(|| parts.encode().unwrap()));
    group.bench_function("protobuf to value", |b| b.iter(|| parts.decode().unwrap()));
    group.finish();
}

criterion_group! {
    name = steps;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .sample_size(20);
    targets = pods
}

criterion_main!(steps);
