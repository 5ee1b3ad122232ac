// SPDX-License-Identifier: Apache-2.0

import Benchmark
import YKCapture
import YKTransport
import YKWire

/// A recorded session of `count` CALCULATE commands, each with its reply.
private func session(_ count: Int) -> Capture {
    let command = Array("00a20001257119497373756572303a7573657230406578616d706c652e636f6d740800000000037f2eaa00".utf8)
    let bytes = (try? Hex.decode(String(decoding: command, as: UTF8.self))) ?? []
    let reply: [UInt8] = [0x76, 0x05, 0x06, 0x27, 0x16, 0xED, 0x42, 0x90, 0x00]
    let events = (0..<count).map { _ in Capture.Event(.exchange(command: bytes, reply: reply)) }
    return Capture(header: .init(link: .card), events: events)
}

let benchmarks: @Sendable () -> Void = {
    let exchanges = 1000
    let recorded = session(exchanges)
    let text = Array(recorded.text.utf8)
    let command = (try? APDU(decoding: Hex.decode("00a20001037101610000"))) ?? APDU(ins: 0xA2)
    Benchmark.defaultConfiguration = .init(metrics: [.wallClock, .throughput], maxDuration: .seconds(2))

    for mode in CaptureReplay.Mode.allCases {
        Benchmark("replay \(mode.rawValue), \(exchanges) exchanges") { benchmark in
            for _ in benchmark.scaledIterations {
                let channel = CardChannel(link: CaptureReplay(recorded, mode: mode).link())
                for event in recorded.events {
                    guard case .exchange(let bytes, _) = event.kind else { continue }
                    blackHole(try channel.exchange(raw: bytes))
                }
            }
        }
    }
    Benchmark("read a capture of \(exchanges) exchanges") { benchmark in
        for _ in benchmark.scaledIterations { blackHole(try Capture(parsing: text)) }
    }
    Benchmark("write and read a command", configuration: .init(scalingFactor: .kilo)) { benchmark in
        for _ in benchmark.scaledIterations { blackHole(try APDU(decoding: try command.encoded(.extended))) }
    }
}
