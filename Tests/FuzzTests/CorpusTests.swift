// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKTestSupport

@testable import FuzzTargets

/// Runs every fuzz target of `tools/fuzz` on its corpus and on inputs derived from it. A decoder that traps ends the test
/// process; `tools/fuzz/run` searches further, with the coverage as its guide and with AddressSanitizer.
@Suite struct CorpusTests {
    /// How many derived inputs each target is given.
    static let derived = Variations.areAll ? 1000 : 100
    static let maximumSize = 8192

    static let corpus = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../tools/fuzz/corpus").standardizedFileURL

    /// The inputs of a target's corpus: each line of its file is one in base64.
    static func inputs(of target: String) throws -> [[UInt8]] {
        let lines = try String(contentsOf: corpus.appending(path: target), encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        return try lines.map { [UInt8](try #require(Data(base64Encoded: String($0)))) }
    }

    @Test("Every target has a corpus, and every corpus a target")
    func complete() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.corpus.path())
        expect(files.sorted(), is: FuzzTarget.all.map(\.name).sorted())
    }

    /// Each target has a thread of its own, since some wait for tasks, which need the threads of Swift's pool.
    @Test(
        "Every target survives its corpus and what is derived from it", .serialized, .timeLimit(.minutes(5)),
        arguments: FuzzTarget.all.map(\.name))
    func survives(name: String) async throws {
        let target = try #require(FuzzTarget.all.first { $0.name == name })
        let inputs = try Self.inputs(of: name)
        try #require(!inputs.isEmpty)
        await Self.inThread {
            for input in inputs { target.run(input) }
            var mutation = Mutation(seed: name)
            for _ in 0..<Self.derived { target.run(mutation.derive(from: inputs)) }
        }
    }

    /// A decoder that walks through all of its input for each of its bytes takes minutes for a megabyte, and 20 s here, where
    /// the slowest of the others takes 5, and twice that beside other work: it tries each format of a log.
    @Test(
        "Every target reads long inputs in time that grows with their length", .serialized, .timeLimit(.minutes(5)),
        arguments: FuzzTarget.all.map(\.name))
    func readsLongInputs(name: String) async throws {
        let place = try #require(FuzzTarget.all.firstIndex { $0.name == name })
        let target = FuzzTarget.all[place]
        let input = try #require(try Self.inputs(of: name).last)
        let slow = await Self.inThread {
            var slow: [String] = []
            for byte in [UInt8(ascii: "\n")]
                + Variations.made(of: [UInt8(ascii: " "), UInt8(ascii: "0"), 0], at: place)
            {
                for cut in Variations.areAll ? [input.count / 2, input.count] : [input.count / 2] {
                    let long = input[..<cut] + [UInt8](repeating: byte, count: 1 << 16) + input[cut...]
                    let start = Self.processorTime
                    target.run(Array(long))
                    let time = Self.processorTime - start
                    if time > 14 { slow.append("\(time) s with the byte \(byte) at \(cut)") }
                }
            }
            return slow
        }
        expect(slow, is: [])
    }

    /// The seconds of processor time that this thread has taken.
    private static var processorTime: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Runs something in a thread of its own, with the stack of the program's main thread.
    private static func inThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { done in
            let thread = Thread { done.resume(returning: body()) }
            thread.stackSize = 8 << 20
            thread.start()
        }
    }

    @Test("The derived inputs are the same in each run, and differ from the corpus")
    func reproducible() throws {
        let inputs = try Self.inputs(of: "cbor")
        var (first, second) = (Mutation(seed: "cbor"), Mutation(seed: "cbor"))
        let derived = (0..<100).map { _ in first.derive(from: inputs) }
        expect(derived, is: (0..<100).map { _ in second.derive(from: inputs) })
        #expect(Set(derived).subtracting(inputs).count > 50)
        #expect(derived.allSatisfy { $0.count <= Self.maximumSize })
    }
}

/// Derives inputs from others by changes of bits, bytes and lengths, and by joining parts of two.
struct Mutation {
    private var state: UInt64
    /// Values at which lengths and counters overflow or change their form.
    private static let edges: [UInt8] = [0x00, 0x01, 0x7F, 0x80, 0x81, 0x82, 0x84, 0xFE, 0xFF, 0x20, 0x30]

    /// Starts a sequence that depends on the seed only.
    init(seed: String) {
        state = seed.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    /// A number below `limit` (SplitMix64).
    private mutating func draw(_ limit: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((value ^ (value >> 31)) % UInt64(max(limit, 1)))
    }

    mutating func derive(from inputs: [[UInt8]]) -> [UInt8] {
        var bytes = inputs[draw(inputs.count)]
        for _ in 0...draw(4) {
            let place = draw(bytes.count + 1)
            switch draw(7) {
            case 0 where place < bytes.count: bytes[place] ^= 1 << UInt8(draw(8))
            case 1 where place < bytes.count: bytes[place] = Self.edges[draw(Self.edges.count)]
            case 2: bytes.insert(UInt8(draw(256)), at: place)
            case 3: bytes.removeSubrange(place..<min(bytes.count, place + 1 + draw(8)))
            case 4: bytes.removeSubrange(place...)
            case 5:
                let other = inputs[draw(inputs.count)]
                bytes.replaceSubrange(place..., with: other[draw(other.count + 1)...])
            default:
                let part = bytes[place..<min(bytes.count, place + 1 + draw(16))]
                bytes.insert(contentsOf: part, at: draw(bytes.count + 1))
            }
        }
        return Array(bytes.prefix(CorpusTests.maximumSize))
    }
}
