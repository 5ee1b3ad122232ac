// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// An operation of one or more writes that may be cut at any of its exchanges.
struct Operation: CustomTestStringConvertible, Sendable {
    typealias Link = CardLink
    let name: String
    var version = FirmwareVersion(5, 7, 1)
    var model = DeviceModel.yubiKey
    var cuts = Cut.card
    /// Whether it is several changes, of which a verb reports each.
    var isComposed = false
    /// Brings a new key into the state before.
    var prepare: @Sendable (VirtualKey) async throws -> Void = { _ in }
    /// The operation.
    let run: @Sendable (sending any CardLink) async throws -> Void
    /// What has to hold whatever happened: nothing is lost, everything is known to somebody. Throws when it does not.
    let holds: @Sendable (VirtualKey) async throws -> Void
    /// What a person does after a cut; the operation again unless told otherwise.
    var again: (@Sendable (VirtualKey) async throws -> Void)?
    /// What has to hold at the end.
    let isDone: @Sendable (VirtualKey) async throws -> Void

    var testDescription: String { name }

    /// Runs the operation without a cut, and then with the cuts of each exchange.
    func proveNothingIsLost() async throws {
        let before = try await prepared()
        let whole = VirtualKey(before, inputs: Self.inputs)
        let counter = CutLink.Counter()
        try await run(CutLink(whole.link(), counter))
        try await holds(whole)
        try await isDone(whole)
        #expect(counter.count > 0)
        for number in counter.places {
            for cut in Variations.made(of: cuts, at: number) { await prove(before, cut, number) }
        }
    }

    /// The state before the operation.
    func prepared() async throws -> VirtualKeyState {
        var profile = DeviceProfile(model: model, serial: 4711)
        if model == .yubiKey { profile.version = version }
        let key = try VirtualKey(.new(profile, random: ScatteredRandom()), inputs: Self.inputs)
        try await prepare(key)
        return key.state
    }

    private func prove(_ before: VirtualKeyState, _ cut: Cut, _ number: Int) async {
        let key = VirtualKey(before, inputs: Self.inputs)
        let counter = CutLink.Counter(cut, at: number)
        var failure: (any Error)?
        do { try await run(CutLink(key.link(), counter)) } catch { failure = error }
        let place =
            "\(name): exchange \(number) (\(counter.command)) \(cut), which ended with \(failure.map { "\($0)" } ?? "success")"
        let after = VirtualKey(key.state, inputs: Self.inputs)
        do { try await holds(after) } catch { Issue.record("\(place): lost: \(error)") }
        do {
            if failure == nil { return try await isDone(after) }
            let again = VirtualKey(key.state, inputs: Self.inputs)
            if let repeating = self.again { try await repeating(again) } else { try await run(again.link()) }
            try await holds(again)
            try await isDone(again)
        } catch { Issue.record("\(place): not repeatable: \(error)") }
    }

    static let inputs = VirtualInputs(random: ScatteredRandom(), touch: { _ in .touched })
}

/// What does not hold.
struct Lost: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

func require(_ condition: Bool, _ words: String) throws {
    if !condition { throw Lost(words) }
}
