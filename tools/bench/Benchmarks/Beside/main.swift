// SPDX-License-Identifier: Apache-2.0

// Measures CBOR beside libcbor, and CTAPHID's framing, in one process; the lines are rows of Markdown tables. With an
// argument, only the named piece of work runs, once, for a profiler. Ends with status 1 when a figure is missed.

import CLibcbor
import Glibc
import YKWire

/// The shortest of several turns, in nanoseconds for one round.
func measure(_ rounds: Int, _ body: () -> Void) -> Double {
    var best = Double.infinity
    for _ in 0..<15 {
        let start = ContinuousClock.now
        for _ in 0..<rounds { body() }
        let (seconds, attoseconds) = start.duration(to: .now).components
        best = min(best, (Double(seconds) * 1e9 + Double(attoseconds) / 1e9) / Double(rounds))
    }
    return best
}

@inline(never) func keep<Value>(_ value: Value) {}

struct Beside {
    var isMissed = false
    let only: String?

    mutating func compare(_ name: String, _ mine: () -> Void, _ theirs: () -> Void) {
        if let only { return only == name ? measure(1000, mine) > 0 ? () : () : () }
        _ = measure(200, mine)
        _ = measure(200, theirs)
        let (own, other) = (measure(2000, mine), measure(2000, theirs))
        let ratio = own / other
        isMissed = isMissed || ratio > 1
        print("| \(name) | \(Int(own)) ns | \(Int(other)) ns | \(String(ratio, places: 2)) |")
    }

    mutating func rate(_ name: String, bytes: Int, least: Double, _ body: () -> Void) {
        if let only { return only == name ? measure(1000, body) > 0 ? () : () : () }
        let speed = Double(bytes) / measure(500, body) * 1000
        isMissed = isMissed || speed < least
        print("| \(name) | \(Int(speed)) MB/s |")
    }
}

extension String {
    init(_ number: Double, places: Int) {
        var scale = 1.0
        for _ in 0..<places { scale *= 10 }
        let digits = String(Int((number * scale).rounded()))
        let padded = String(repeating: "0", count: Swift.max(0, places + 1 - digits.count)) + digits
        self.init(padded.dropLast(places) + "." + padded.suffix(places))
    }
}

var beside = Beside(only: CommandLine.arguments.dropFirst().first)
if beside.only == nil { print("| CBOR | ykit | libcbor | × libcbor |\n|---|---|---|---|") }
for (name, text) in [("getInfo", Replies.getInfo), ("makeCredential", Replies.makeCredential)] {
    let bytes = try Hex.decode(text)
    let item = try CBOR(decoding: bytes)
    let theirs = beside_load(bytes, bytes.count)
    guard item.encoded == bytes, beside_encode(theirs) == bytes.count else { fatalError("not the same") }
    beside.compare(
        "decode \(name)", { keep(try? CBOR(decoding: bytes)) },
        { keep(bytes.withUnsafeBufferPointer { beside_decode($0.baseAddress, $0.count) }) })
    beside.compare("encode \(name)", { keep(item.encoded) }, { keep(beside_encode(theirs)) })
}
if beside.only == nil { print("\n| CTAPHID | |\n|---|---|") }
let channel = CTAPHID.Channel(rawValue: 0x0102_0304)
let message = CTAPHID.Message(.cbor, on: channel, (0..<CTAPHID.messageLimit).map { UInt8(truncatingIfNeeded: $0) })
beside.rate("split and assemble \(CTAPHID.messageLimit) bytes", bytes: CTAPHID.messageLimit, least: 200) {
    var assembler = CTAPHID.Assembler(channel: channel)
    for report in (try? message.reports()) ?? [] { keep(try? assembler.add(report)) }
}
exit(beside.isMissed ? 1 : 0)
