// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import Testing
import Words
import YKPIV
import YKProtocols
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// Each exchange of each operation, refused with the usual statuses: what the error says is what the key holds.
struct MessageTests {
    static let operations =
        PIVOperations.managementKeys + PIVOperations.codes + PIVOperations.contents + OpenPGPOperations.contents
        + OpenPGPOperations.codes + OATHOperations.all + FIDOOperations.all + ConfigOperations.all + OTPOperations.all
        + HSMAuthOperations.all + SecurityDomainOperations.all

    /// `StandingTests` has the key derivation, whose way back leaves an object that says that there is none.
    @Test(
        "an error says what is changed",
        arguments: operations.filter { !$0.isComposed && !$0.name.hasPrefix("set up a key derivation") })
    func saysWhatIsChanged(_ operation: Operation) async throws { try await operation.proveMessages() }
}

extension Cut {
    /// The status words with which cards refuse a step.
    static let words: [UInt16] = [
        0x6581, 0x6700, 0x6982, 0x6983, 0x6985, 0x6A80, 0x6A88, 0x6B00, 0x6D00, 0x6F00, 0x63C2,
    ]
    /// What a step of this kind of operation is refused with.
    static func refusals(like cuts: [Cut]) -> [Cut] {
        guard cuts == fido else { return words.map(Cut.refused) }
        let statuses: [UInt8] = [0x02, 0x12, 0x27, 0x28, 0x30, 0x33, 0x36, 0x7F]
        return statuses.map(Cut.ctap) + [.refused(0x6985), .refused(0x6F00)]
    }
}

/// What an error says of a change that it ended.
private enum Said {
    /// Nothing was changed.
    case unchanged
    /// Something was.
    case changed
    /// Perhaps, or how far the change got.
    case either

    init(_ error: any Error) {
        switch (error as? PIVError, Explanation(error).code) {
        case (.uncertain?, _), (_, "not-blocked"), (_, "reset-incomplete"): self = .either
        case (_, "unfinished"): self = .changed
        default: self = .unchanged
        }
    }
}

extension Operation {
    /// Refuses each exchange in turn. A success is the whole change; an error that does not say what is changed leaves
    /// the key as it was.
    fileprivate func proveMessages() async throws {
        let before = Self.awake(try await prepared())
        let whole = VirtualKey(before, inputs: Self.inputs)
        let counter = CutLink.Counter()
        try await run(CutLink(whole.link(), counter))
        try await isDone(whole)
        for number in counter.places {
            for refusal in Variations.made(of: Cut.refusals(like: cuts), at: number) {
                await prove(before, refusal, number)
            }
        }
    }

    /// The state of a key whose applications have been used: the first command makes what they hold at the factory.
    private static func awake(_ state: VirtualKeyState) -> VirtualKeyState {
        let key = VirtualKey(state, inputs: inputs)
        let link = key.link()
        for (application, command) in [
            (AID.piv, "00cb3fff055c035fc10200"), (.openPGP, "00ca006e00"), (.securityDomain, "80ca00e000"),
        ] {
            let name = application.rawValue
            for command in [[0x00, 0xA4, 0x04, 0x00, UInt8(name.count)] + name, (try? Hex.decode(command)) ?? []] {
                _ = try? link.exchange(command, deadline: .after(.seconds(10)))
            }
        }
        return key.state
    }

    private func prove(_ before: VirtualKeyState, _ refusal: Cut, _ number: Int) async {
        let key = VirtualKey(before, inputs: Self.inputs)
        let counter = CutLink.Counter(refusal, at: number)
        var failure: (any Error)?
        do { try await run(CutLink(key.link(), counter)) } catch { failure = error }
        let changed = differences(before, key.state)
        let place = "\(name): exchange \(number) (\(counter.command)) \(refusal)"
        guard let failure else {
            // Words with which cards say that there is no key derivation are believed.
            let absent = [0x6985, 0x6B00, 0x6D00].map(Cut.refused)
            if counter.command.hasPrefix("00ca00f9"), absent.contains(refusal) { return }
            do {
                try await holds(VirtualKey(key.state, inputs: Self.inputs))
                try await isDone(VirtualKey(key.state, inputs: Self.inputs))
            } catch { Issue.record("\(place): success, but: \(error)") }
            return
        }
        let words = Explanation(failure).message
        switch Said(failure) {
        case .unchanged: if !changed.isEmpty { Issue.record("\(place): '\(words)', but changed: \(changed)") }
        case .changed: if changed.isEmpty { Issue.record("\(place): '\(words)', but nothing is changed") }
        case .either: break
        }
    }

    /// The paths of what differs between two states, without what changes with every use of a key; tries count where they
    /// are used up on purpose.
    private func differences(_ one: VirtualKeyState, _ other: VirtualKeyState) -> [String] {
        let passing: Set = ["counter", "sequence", "lastChallenge"]
        let tries: Set = ["left", "tries", "retries", "pinRetries", "managementRetries", "verificationsLeft"]
        let ignored = name.hasPrefix("reset") ? passing : passing.union(tries)
        let (before, after) = (one.json.leaves(besides: ignored), other.json.leaves(besides: ignored))
        return Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }.sorted()
    }
}

extension JSONValue {
    /// The values by their paths, without the members of these names.
    fileprivate func leaves(besides ignored: Set<String>, at path: String = "") -> [String: JSONValue] {
        var leaves: [String: JSONValue] = [:]
        switch self {
        case .object(let object):
            for member in object.members where !ignored.contains(member.key) {
                leaves.merge(member.value.leaves(besides: ignored, at: "\(path)/\(member.key)")) { first, _ in first }
            }
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                leaves.merge(element.leaves(besides: ignored, at: "\(path)/\(index)")) { first, _ in first }
            }
        default: leaves[path] = self
        }
        return leaves
    }
}
