// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import Testing
import YKCrypto
import YKPIV
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// A virtual key, and services on it.
struct Bench {
    let key: VirtualKey
    let finger: TouchSimulator

    /// Whether the key is touched, and for what.
    final class TouchSimulator: Sendable {
        private let state = Mutex<(touch: VirtualInputs.Touch, asked: [String])>((.touched, []))
        var asked: [String] { state.withLock { $0.asked } }
        func set(_ touch: VirtualInputs.Touch) { state.withLock { $0.touch = touch } }
        func touch(_ what: [UInt8]) -> VirtualInputs.Touch {
            state.withLock { state in
                state.asked.append(String(decoding: what, as: UTF8.self))
                return state.touch
            }
        }
    }

    init(_ version: FirmwareVersion = FirmwareVersion(5, 7, 1), serial: UInt32 = 4711) throws {
        let finger = TouchSimulator()
        self.finger = finger
        let inputs = VirtualInputs(random: ScatteredRandom(), touch: { finger.touch($0) })
        key = try VirtualKey.new(version, serial: serial, random: ScatteredRandom(), inputs: inputs)
    }

    func open(_ environment: ServiceEnvironment = .still, form: APDU.Form? = nil) async throws -> PIVService {
        let channel = CardChannel(link: key.link(), environment: environment)
        return try await PIVService.open(channel)
    }

    /// A service to which the management key was given.
    func manage() async throws -> PIVService {
        let service = try await open()
        try await service.authenticate(with: .defaultKey())
        return service
    }

    /// A service with a new key in a slot.
    func with(
        _ algorithm: PIVAlgorithm, _ slot: PIVSlot = .authentication, policies: KeyPolicies = KeyPolicies()
    ) async throws -> (PIVService, PublicKey) {
        let service = try await manage()
        return (service, try await service.generateKey(slot, algorithm, policies: policies))
    }
}

extension ServiceEnvironment {
    /// An environment that stands still in 2026.
    static var still: ServiceEnvironment {
        ServiceEnvironment(random: ScatteredRandom(), clock: FixedClock(1_795_000_000), timeout: .seconds(30))
    }
}

func pin(_ text: String = "123456") throws -> PIVPIN { try PIVPIN(Secret(utf8: text)) }
func bytes(_ hex: String) throws -> [UInt8] { try Hex.decode(hex.filter { $0 != " " && $0 != "\n" }) }

/// Runs a program with bytes at its standard input and gives what it wrote.
func run(_ arguments: [String], input: [UInt8] = []) throws -> (status: Int32, output: [UInt8]) {
    let folder = "/tmp/ykpiv.\(getpid()).\(UInt64.random(in: 0 ... .max))"
    try write(input, folder + ".in")
    let quoted = arguments.map { "'" + $0.replacing("'", with: "'\\''") + "'" }.joined(separator: " ")
    let status = system("\(quoted) <\(folder).in >\(folder).out 2>\(folder).err")
    defer { for end in ["in", "out", "err"] { unlink("\(folder).\(end)") } }
    return (status, Recordings.read("\(folder).out"))
}

func write(_ bytes: [UInt8], _ path: String) throws {
    let file = try #require(fopen(path, "w"))
    fwrite(bytes, 1, bytes.count, file)
    fclose(file)
}
