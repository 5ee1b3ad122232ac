// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

@testable import YKOpenPGP

/// Each step of a change of the key derivation, refused with each usual status word: what the error says of both PINs is
/// what the card holds.
struct StandingTests {
    /// A card and a change.
    struct Change: CustomTestStringConvertible, Sendable {
        let model: DeviceModel
        /// Whether the card takes nothing but hashes once it has the object, as SmartPGP does.
        var isStrict = false
        /// Whether a reset code is set.
        var hasResetCode = false
        let ends: Bool

        var testDescription: String {
            "\(ends ? "end" : "set up") (\(isStrict ? "strict " : "")\(model)\(hasResetCode ? ", reset code" : ""))"
        }
        /// Gnuk has no other user PIN before it holds a key.
        var newUser: String { model == .gnuk && ends ? "123456" : OpenPGPOperations.newUser }
    }

    static let changes = [false, true].flatMap { ends in
        [
            Change(model: .yubiKey, ends: ends), Change(model: .gnuk, ends: ends), Change(model: .openPGP, ends: ends),
            Change(model: .openPGP, hasResetCode: true, ends: ends),
            Change(model: .openPGP, isStrict: true, ends: ends),
            Change(model: .openPGP, isStrict: true, hasResetCode: true, ends: ends),
        ]
    }
    private static let (user, admin) = ("old-user", "old-admin-pin")
    private static let newAdmin = OpenPGPOperations.newAdmin

    @Test("an error says what holds", arguments: changes)
    func tellsWhatHolds(_ change: Change) async throws {
        let before = try await prepared(change)
        let whole = VirtualKey(before, inputs: Operation.inputs)
        let counter = CutLink.Counter()
        try await run(change, CutLink(link(whole, change), counter))
        try await expect(holding(whole, change), is: .init(isHashed: !change.ends, user: .new, admin: .new))
        for number in counter.places {
            for word in Variations.made(of: Cut.words, at: number) {
                try await refuse(change, before, number, word)
            }
        }
    }

    private func refuse(_ change: Change, _ before: VirtualKeyState, _ number: Int, _ word: UInt16) async throws {
        let key = VirtualKey(before, inputs: Operation.inputs)
        let counter = CutLink.Counter(.refused(word), at: number)
        var said = OpenPGPStanding(isHashed: !change.ends, user: .new, admin: .new)
        var failure = "success"
        var left = 3
        do { try await run(change, CutLink(link(key, change), counter)) } catch let error as OpenPGPError {
            failure = "\(error)"
            // The form of an interrupted set-up is tried, too, unless it were the last try; what is left is said.
            if case .wrongPIN(_, let tries?) = error { left = tries }
            said =
                if case .unfinished(let standing, _) = error { standing } else {
                    OpenPGPStanding(isHashed: change.ends, user: .old, admin: .old)
                }
        }
        let held = try await holding(key, change)
        let place = Comment(
            "\(change.testDescription), exchange \(number) (\(counter.command)) refused with \(word): \(failure)")
        expect(said.isHashed, is: held.isHashed, place)
        #expect(Self.fits(said.user, held.user), place)
        #expect(Self.fits(said.admin, held.admin), place)
        // Nothing is lost but what an error says is lost.
        #expect(held.admin != .unusable || held.isHashed == true, place)
        expect(Int(key.state.openPGP.admin.left), is: left, place)
    }

    /// Whether a PIN is what was said.
    private static func fits(_ said: OpenPGPStanding.PIN, _ held: OpenPGPStanding.PIN) -> Bool {
        said == held || said == .unknown && held != .unusable
    }

    private func prepared(_ change: Change) async throws -> VirtualKeyState {
        let profile = DeviceProfile(model: change.model, serial: 4711)
        let key = try VirtualKey(.new(profile, random: ScatteredRandom()), inputs: Operation.inputs)
        if change.hasResetCode {
            try await OpenPGPOperations.administer(key.link()).setResetCode(Secret(utf8: "reset-code"))
        }
        let service = try await OpenPGPOperations.open(key.link())
        let usual = Secret(utf8: OpenPGPOperations.admin)
        if change.ends {
            try await service.setUpKDF(
                admin: usual, newUser: Secret(utf8: Self.user), newAdmin: Secret(utf8: Self.admin), count: 1000)
        } else {
            try await service.changePIN(.admin, from: usual, to: Secret(utf8: Self.admin))
            if change.model != .gnuk {
                try await service.changePIN(
                    .user, from: Secret(utf8: OpenPGPOperations.user), to: Secret(utf8: Self.user))
            }
        }
        return key.state
    }

    private func run(_ change: Change, _ link: sending any CardLink) async throws {
        let service = try await OpenPGPOperations.open(link)
        let user = Secret(utf8: change.newUser)
        let last = Secret(utf8: Self.newAdmin)
        if change.ends {
            try await service.endKDF(admin: Secret(utf8: Self.admin), newUser: user, newAdmin: last)
        } else {
            try await service.setUpKDF(admin: Secret(utf8: Self.admin), newUser: user, newAdmin: last, count: 1000)
        }
    }

    private func link(_ key: VirtualKey, _ change: Change) -> sending any CardLink {
        change.isStrict ? StrictLink(key) : key.link()
    }

    /// What a card holds, found by trying the PINs on copies of it.
    private func holding(_ key: VirtualKey, _ change: Change) async throws -> OpenPGPStanding {
        func accepts(_ text: String, _ access: OpenPGPAccess) async throws -> Bool {
            let copy = VirtualKey(key.state, inputs: Operation.inputs)
            do {
                try await OpenPGPOperations.open(copy.link()).verify(Secret(utf8: text), for: access)
                return true
            } catch is OpenPGPError { return false }
        }
        func pin(
            _ old: String, _ new: String, _ initial: String, _ access: OpenPGPAccess
        ) async throws -> OpenPGPStanding.PIN {
            if try await accepts(new, access) { return .new }
            if try await accepts(old, access) { return .old }
            return try await accepts(initial, access) ? .initial : .unusable
        }
        let isHashed = try await OpenPGPOperations.open(key.link()).kdf() != nil
        let old = change.model == .gnuk && !change.ends ? OpenPGPOperations.user : Self.user
        return OpenPGPStanding(
            isHashed: isHashed, user: try await pin(old, change.newUser, OpenPGPOperations.user, .using),
            admin: try await pin(Self.admin, Self.newAdmin, OpenPGPOperations.admin, .administration))
    }
}

/// A card that takes nothing but hashes once it has the object, and no empty reset code (SmartPGP).
private final class StrictLink: ForwardingCardLink {
    let link: any CardLink
    private let key: VirtualKey

    init(_ key: VirtualKey) { (self.key, link) = (key, key.link()) }

    func exchange(_ command: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8] {
        let isExtended = command.count > 7 && command[4] == 0
        let length = isExtended ? Int(command[5]) << 8 | Int(command[6]) : command.count > 4 ? Int(command[4]) : 0
        let memory = key.state.openPGP
        let isHashed = memory.kdf.count > 3
        let isWrong =
            switch (command[1], command[3]) {
            case (0xDA, 0xD3): length == 0
            case (0x24, 0x83): isHashed && length != memory.admin.value.count + 32
            case (0x20, _): isHashed && length != 32 && memory.admin.value.count == 32
            case (0x2C, _): isHashed && length != 32
            default: false
            }
        return isWrong ? ResponseAPDU(.wrongLength).encoded : try link.exchange(command, deadline: deadline)
    }
}
