// swift-tools-version: 6.1
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
    name: "ykit-bench",
    dependencies: [
        .package(name: "ykit", path: "../.."),
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
    ],
    targets: [
        .executableTarget(
            name: "YKitBenchmarks",
            dependencies: [
                .product(name: "Benchmark", package: "benchmark"),
                .product(name: "YKWire", package: "ykit"),
                .product(name: "YKTransport", package: "ykit"),
                .product(name: "YKCapture", package: "ykit"),
            ],
            path: "Benchmarks/YKitBenchmarks",
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),
        .systemLibrary(name: "CLibcbor", path: "CLibcbor"),
        .executableTarget(
            name: "beside",
            dependencies: [.product(name: "YKWire", package: "ykit"), "CLibcbor"], path: "Benchmarks/Beside"),
    ]
)
