// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKTransport
import YKWire

@testable import YKCapture

@Suite struct RedactorTests {
    /// The command's bytes with secrets as `..`, after these applications and commands.
    private func hidden(_ command: String, after earlier: [String] = [], reply: String = "9000") throws -> String {
        var redactor = Redactor()
        for line in earlier { _ = redactor.masks(command: try Hex.decode(line), reply: [0x90, 0x00]) }
        let bytes = try Hex.decode(command)
        let masks = redactor.masks(command: bytes, reply: try Hex.decode(reply)).command
        return Self.dotted(bytes, masks)
    }

    private static func dotted(_ bytes: [UInt8], _ masks: [Capture.Event.Mask]) -> String {
        var pairs = bytes.map { Hex.encode([$0]) }
        for mask in masks { for index in mask.offset..<mask.end where index < pairs.count { pairs[index] = ".." } }
        return pairs.joined()
    }

    /// Replies of PIV's private keys: what is agreed on, and RSA that is no PKCS#1 signature; the headers stay, and so
    /// do signatures. What the management key makes of a challenge is hidden: the key may be derived from a PIN.
    @Test(arguments: [
        ("0087119d097c078200850304112200", "7c058203aabbcc9000", "7c058203......9000"),
        ("0087079d0a7c08820081040002aabb00", "7c0482021122" + "9000", "7c048202....9000"),
        ("0087079d0a7c08820081040002aabb00", "7c0482021122" + "6110", "7c048202....6110"),
        ("0087079a0a7c08820081040001ffff00", "7c04820211229000", "7c04820211229000"),
        ("0087119a087c0682008102aabb00", "7c04820211229000", "7c04820211229000"),
        ("0087039b0a7c0882008104aabbccdd00", "7c04820211229000", "7c048202....9000"),
        ("0087119d03aabbcc00", "7c04820211229000", "7c048202....9000"),
        ("0087119d097c078200850304112200", "aabbcc9000", "......9000"),
    ]) func whatAKeyOfPIVGivesAway(_ command: String, _ reply: String, _ expected: String) throws {
        var redactor = Redactor()
        _ = redactor.masks(command: try Hex.decode(Self.piv), reply: [0x90, 0x00])
        let bytes = try Hex.decode(reply)
        expect(Self.dotted(bytes, redactor.masks(command: try Hex.decode(command), reply: bytes).reply), is: expected)
    }

    private static let oath = "00a4040007a000000527210100"
    private static let piv = "00a4040005a00000030800"
    private static let fido = "00a4040008a0000006472f000100"
    private static let otp = "00a4040007a0000005272001"
    private static let management = "00a4040008a000000527471117"
    private static let openPGP = "00a4040006d27600012401"
    private static let hsmAuth = "00a4040008a000000527210701"
    private static let domain = "00a4040008a000000151000000"
    private static let canokey = "00a4040005f000000000"

    static let cases: [(String, String, String)] = [
        // OATH: PUT with touch (a tag without length) and counter, SET CODE, its removal; nothing else.
        (oath, "000100000e7103613a6273052106aabbcc7802", "000100000e7103613a6273052106......7802"),
        (
            oath, "00010000147103613a6273052106aabbcc78027a0400000001",
            "00010000147103613a6273052106......78027a0400000001"
        ),
        (oath, "0001000000000e7103613a6273052106aabbcc78020000", "0001000000000e7103613a6273052106......78020000"),
        (oath, "0003000010730321aabb740401020304750405060708", "0003000010730321....7404010203047504........"),
        (oath, "0003000002730000", "0003000002730000"),
        (oath, "00a30000087502aabb7402ccdd", "00a30000087502....7402ccdd"),
        (oath, "0001000004730aaabb", "0001000004730aaabb"), (oath, "00010000057305aabbcc", "00010000057305aabb.."),
        (oath, "0001000003ffffff", "0001000003......"),
        // PIV: PIN, PUK, management key, import, printed information; short, extended, malformed.
        (piv, "0020008008313233343536ffff", "0020008008................"),
        (piv, "00200080000008313233343536ffff", "00200080000008................"),
        (piv, "0020008000", "0020008000"), (piv, "00200080", "00200080"),
        (piv, "0020008009313233343536ffff", "00200080.................."),
        (piv, "0020008007313233343536ffff", "0020008007................"),
        (piv, "0024008010313233343536ffff363534333231ffff", "0024008010................................"),
        (piv, "002c008002aabb", "002c008002...."), (piv, "00ffffff06039b03aabbcc", "00ffffff06039b03......"),
        (piv, "00fe119a040602aabb", "00fe119a04........"),
        (piv, "00db3fff095c035fc1095302aabb", "00db3fff095c035fc109........"),
        (piv, "00db3fff095c035fc1055302aabb", "00db3fff095c035fc1055302aabb"),
        (piv, "0087039b047c028100", "0087039b047c028100"),
        (piv, "0087039b0a7c088002aabb8102ccdd", "0087039b0a7c088002....8102ccdd"),
        (piv, "0087039b067c048202aabb", "0087039b067c048202...."), (piv, "00fd000000", "00fd000000"),
        // FIDO: clientPIN's 4, 5 and 6, but not its subcommand or key agreement.
        (fido, "801000000606a20101020100", "801000000606a20101020100"),
        (
            fido, "801000001606a5010202030442aabb0543ccddee0642112203a000",
            "801000001606a5010202030442....0543......0642....03a000"
        ),
        (fido, "801000000706a20501064111", "801000000706a205..0641.."),
        (fido, "801000000506a10501ff", "801000000506a105..ff"), (fido, "8010000003061800", "801000000306...."),
        (fido, "8010000003060001", "801000000306...."), (fido, "801000000306bf04", "801000000306bf04"),
        (fido, "801000000406a10558", "801000000406a105.."), (fido, "801000000506a2054aaa", "801000000506a2054a.."),
        (fido, "801000000104", "801000000104"), (fido, "80100000020104", "80100000020104"),
        (fido, "0043000004aabbccdd", "0043000004........"), (fido, "0044000002aabb", "0044000002...."),
        (fido, "0001000003aabbcc", "0001000003aabbcc"),
        // Slot configurations and lock codes.
        (otp, "0001010003aabbcc", "0001010003......"), (otp, "0001300003aabbcc", "0001300003aabbcc"),
        (otp, "0001150007060a02aabb0c00", "0001150007060a02....0c00"), (otp, "0003000000", "0003000000"),
        (management, "001c000008070a02aabb0301ff", "001c000008070a02....0301ff"),
        (management, "001c000005040b02aabb", "001c000005040b02...."), (management, "001d000000", "001d000000"),
        (openPGP, "00db3fff03aabbcc", "00db3fff03......"), (openPGP, "00da00d302aabb", "00da00d302...."),
        (openPGP, "00da005b02aabb", "00da005b02aabb"),
        (hsmAuth, "000300000c7101617702aabb7303ccddee", "000300000c7101617702aabb7303......"),
        (hsmAuth, "000100000a7b02aabb710161740126", "000100000a7b02....710161740126"),
        (hsmAuth, "000200000a7b04aabbccdd71026162", "000200000a7b04........71026162"),
        (hsmAuth, "0005000000", "0005000000"),
        (domain, "80d8000003aabbcc", "80d8000003......"), (domain, "80ca00e000", "80ca00e000"),
        (canokey, "0021000003aabbcc", "0021000003......"), (canokey, "0031000000", "0031000000"),
    ]

    @Test(arguments: cases)
    func secretsAreFound(applet: String, command: String, expected: String) throws {
        try expect(hidden(command, after: [applet]), is: expected)
    }

    @Test func beforeAnySelectEverythingThatCanBeASecretIs() throws {
        for command in ["0001000002aabb", "0003000002aabb", "001c000002aabb", "00fe000002aabb", "00db000002aabb"] {
            try expect(hidden(command), is: command.prefix(10) + "....")
        }
        try expect(hidden("80100000050105a10540"), is: "80100000050105a10540")
        try expect(hidden("801000000506a10541aa"), is: "801000000506a10541..")
        try expect(hidden("00a1000000"), is: "00a1000000")
        // Another application than those known here: only what ISO 7816 makes a secret.
        try expect(hidden("0001000002aabb", after: ["00a4040005a000000999"]), is: "0001000002aabb")
        try expect(hidden("0020000002aabb", after: ["00a4040005a000000999"]), is: "0020000002....")
    }

    @Test func aSelectThatFailsChangesNothing() throws {
        var redactor = Redactor()
        _ = redactor.masks(command: try Hex.decode(Self.oath), reply: [0x90, 0])
        _ = redactor.masks(command: try Hex.decode(Self.piv), reply: [0x6A, 0x82])
        let put = try Hex.decode("00010000057303210601")
        expect(redactor.masks(command: put, reply: [0x90, 0]).command, is: [.init(offset: 9, length: 1)])
    }

    /// A secret that runs over the ends of the parts of a chain is found in each of them.
    @Test func chains() throws {
        let secret = [UInt8](repeating: 0xEE, count: 40)
        let message = [0x06] + CBOR.map(CBOR.Map.of([1: 2, 2: 4, 5: .bytes(secret), 6: .bytes(secret)])).encoded
        for size in [1, 2, 3, 7, 16, 39, 64, 200] {
            var redactor = Redactor()
            _ = redactor.masks(command: try Hex.decode(Self.fido), reply: [0x90, 0])
            var seen: [UInt8] = []
            for start in stride(from: 0, to: message.count, by: size) {
                let part = Array(message[start..<min(start + size, message.count)])
                let isLast = start + size >= message.count
                let bytes = try APDU(cla: isLast ? 0x80 : 0x90, ins: 0x10, data: part, le: .none).encoded(.short)
                seen += bytes.masked(redactor.masks(command: bytes, reply: [0x90, 0]).command).dropFirst(5)
            }
            #expect(!seen.contains(0xEE), "parts of \(size)")
            #expect(seen.count == message.count && seen.prefix(5) == message.prefix(5))
        }
    }

    @Test func aChainOfAnotherCommandBeginsAnew() throws {
        let first = "10db3fff055c035fc109"
        try expect(hidden("00db3fff0453020102", after: [Self.piv, first]), is: "00db3fff04........")
        try expect(hidden("00cb3fff055c035fc105", after: [Self.piv, first]), is: "00cb3fff055c035fc105")
    }

    @Test func printedInformationIsHiddenInReplies() throws {
        var redactor = Redactor()
        _ = redactor.masks(command: try Hex.decode(Self.piv), reply: [0x90, 0])
        let get = try Hex.decode("00cb3fff055c035fc10900")
        let more = try Hex.decode("00c0000000")
        expect(redactor.masks(command: get, reply: [1, 2, 3, 0x61, 2]).reply, is: [.init(offset: 0, length: 3)])
        expect(redactor.masks(command: more, reply: [1, 2, 0x90, 0]).reply, is: [.init(offset: 0, length: 2)])
        expect(redactor.masks(command: more, reply: [1, 2, 0x90, 0]).reply, is: [])
        let other = try Hex.decode("00cb3fff055c035fc10500")
        expect(redactor.masks(command: other, reply: [1, 2, 3, 0x61, 2]).reply, is: [])
        expect(redactor.masks(command: more, reply: [1, 2, 0x90, 0]).reply, is: [])
        // Session keys of YubiHSM Auth.
        _ = redactor.masks(command: try Hex.decode(Self.hsmAuth), reply: [0x90, 0])
        let calculate = try Hex.decode("000300000371016100")
        expect(redactor.masks(command: calculate, reply: [9, 9, 0x90, 0]).reply, is: [.init(offset: 0, length: 2)])
    }

    /// A PIN is guessed from its hash quickly.
    @Test(arguments: [
        ("810103870211228802334484085566", [5..<7, 9..<11]), ("f907810103870211220088", [7..<9]),
        ("810100", []), ("87021122", [2..<4]), ("8720112233", [2..<5]), ("f98106870211228801", [5..<7]),
    ])
    func hashesOfPINsAreHidden(_ object: String, _ hidden: [Range<Int>]) throws {
        var redactor = Redactor()
        _ = redactor.masks(command: try Hex.decode(Self.openPGP), reply: [0x90, 0])
        let reply = try Hex.decode(object)
        let masks = redactor.masks(command: try Hex.decode("00ca00f900"), reply: reply + [0x90, 0]).reply
        #expect(
            hidden.allSatisfy { range in masks.contains { $0.offset == range.lowerBound && $0.length >= range.count } })
        expect(hidden.isEmpty, is: masks.isEmpty)
    }

    /// What the key proves with a password's key would allow guessing the password.
    @Test func proofsOfOATHAreHidden() throws {
        var redactor = Redactor()
        _ = redactor.masks(command: try Hex.decode(Self.oath), reply: [0x90, 0])
        let validate = try Hex.decode("00a30000087502aabb7402ccdd")
        let reply = try Hex.decode("7502eeff9000")
        expect(redactor.masks(command: validate, reply: reply).reply, is: [.init(offset: 2, length: 2)])
    }

    // MARK: Replies of FIDO

    private static let marked = [UInt8](repeating: 0xEE, count: 32)

    /// Authenticator data with extension outputs, with or without a credential.
    private static func authenticatorData(_ outputs: CBOR.Map, hasCredential: Bool) -> CBOR {
        let key = CBOR.map(CBOR.Map.of([1: 2, 3: -7, -1: 1, -2: .bytes([1, 2]), -3: .bytes([3, 4])])).encoded
        let credential = [UInt8](repeating: 7, count: 16) + [0, 3, 9, 9, 9] + key
        return .bytes(
            [UInt8](repeating: 5, count: 32) + [hasCredential ? 0xC5 : 0x85, 0, 0, 0, 1]
                + (hasCredential ? credential : []) + CBOR.map(outputs).encoded)
    }

    /// Requests, and replies in which every secret is of one byte.
    static let replies: [(request: UInt8, reply: CBOR.Map)] = [
        (
            0x01,
            CBOR.Map.of([1: "none", 2: authenticatorData(["hmac-secret-mc": .bytes(marked)], hasCredential: true)])
        ),
        (
            0x01,
            CBOR.Map.of([1: "none", 2: authenticatorData(["credBlob": true], hasCredential: true), 5: .bytes(marked)])
        ),
        (
            0x02,
            CBOR.Map.of([2: authenticatorData(["credBlob": .bytes(marked)], hasCredential: false), 3: .bytes(marked)])
        ),
        (
            0x02,
            CBOR.Map.of([
                2: authenticatorData(["hmac-secret": .bytes(marked)], hasCredential: false), 7: .bytes(marked),
            ])
        ),
        (
            0x02,
            CBOR.Map.of([
                3: .bytes([1]),
                8: .map(CBOR.Map.of(["largeBlob": .map(CBOR.Map.of(["blob": .bytes(marked)]))])),
            ])
        ),
        (0x08, CBOR.Map.of([2: .bytes([UInt8](repeating: 1, count: 37)), 7: .bytes(marked)])),
        (0x0A, CBOR.Map.of([6: .map(CBOR.Map.of(["id": .bytes([1])])), 10: 1, 11: .bytes(marked)])),
    ]

    @Test(arguments: replies.indices) func repliesOfFIDO(index: Int) throws {
        let (request, map) = Self.replies[index]
        let message = [0x00] + CBOR.map(map).encoded
        var hid = Redactor()
        for report in Self.reports(0x10, [request, 0xA0]) { _ = hid.masks(Capture.Event(.written(report))) }
        for report in Self.reports(0x10, message) {
            let event = hid.redacted(Capture.Event(.delivered(report)))
            guard case .delivered(let hidden) = event.kind else { continue }
            #expect(!hidden.contains(0xEE))
        }
        for size in [1, 2, 40, 55, 70, 250] {
            var card = Redactor()
            _ = card.masks(command: try Hex.decode(Self.fido), reply: [0x90, 0])
            var command = try Hex.decode("8010000002" + Hex.encode([request]) + "a000")
            var whole: [UInt8] = []
            for start in stride(from: 0, to: message.count, by: size) {
                let end = min(message.count, start + size)
                let part = Array(message[start..<end]) + (end < message.count ? [0x61, 0x00] : [0x90, 0x00])
                whole += part.masked(card.masks(command: command, reply: part).reply).dropLast(2)
                command = try Hex.decode("00c0000000")
            }
            #expect(whole.count == message.count && !whole.contains(0xEE), "parts of \(size)")
            // In parts of a byte or two more than the secret is overwritten.
            if size >= 40 {
                #expect(throws: Never.self, "parts of \(size)") { try CBOR(decoding: Array(whole.dropFirst())) }
            }
        }
    }

    /// A one-time password that a tag shows, however the file is read.
    @Test(arguments: [1, 5, 16, 54, 200]) func oneTimePasswordsOfTags(size: Int) throws {
        let password = "cccccccccccb" + "lnblhgkcgtdhenkjtrdrdeuirrgbvdtn"
        let file = [0x00, 0x45, 0xD1, 0x01, 0x41, 0x55, 0x04] + Array("my.yubico.com/yk/#\(password)".utf8)
        var redactor = Redactor()
        _ = redactor.masks(command: try Hex.decode("00a4040007d276000085010100"), reply: [0x90, 0])
        _ = redactor.masks(command: try Hex.decode("00a4000c02e104"), reply: [0x90, 0])
        var shown: [UInt8] = []
        for start in stride(from: 0, to: file.count, by: size) {
            let part = Array(file[start..<min(file.count, start + size)])
            let command = [0x00, 0xB0, 0x00, UInt8(start), UInt8(part.count)]
            let reply = part + [0x90, 0x00]
            shown += reply.masked(redactor.masks(command: command, reply: reply).reply).dropLast(2)
        }
        #expect(shown.starts(with: file.prefix(25)))
        // Of pieces shorter than a few characters nothing can be told in time; of all others too little is left.
        let left = shown.suffix(32).filter { $0 != 0 }.count
        #expect(left <= 8)
    }

    // MARK: HID

    /// The CTAPHID reports of a message on one channel.
    static func reports(_ command: UInt8, _ message: [UInt8]) -> [[UInt8]] {
        let channel: [UInt8] = [1, 2, 3, 4]
        var rest = message[...]
        var reports = [
            channel + [command | 0x80, UInt8(message.count >> 8), UInt8(message.count & 255)] + rest.prefix(57)
        ]
        rest = rest.dropFirst(57)
        var sequence: UInt8 = 0
        while !rest.isEmpty {
            reports.append(channel + [sequence] + rest.prefix(59))
            rest = rest.dropFirst(59)
            sequence += 1
        }
        return reports.map { $0 + [UInt8](repeating: 0, count: 64 - $0.count) }
    }

    @Test func reportsOfClientPIN() throws {
        let secret = [UInt8](repeating: 0xEE, count: 64)
        let message = [0x06] + CBOR.map(CBOR.Map.of([1: 2, 2: 4, 4: .bytes(secret), 6: .bytes(secret)])).encoded
        var redactor = Redactor()
        for report in Self.reports(0x10, message) {
            let event = redactor.redacted(.init(.written(report)))
            guard case .written(let hidden) = event.kind else { continue }
            #expect(!hidden.contains(0xEE) && hidden.prefix(5) == report.prefix(5))
        }
        let harmless = redactor.redacted(.init(.written(Self.reports(0x10, [0x04])[0])))
        #expect(harmless.commandMask.isEmpty)
        let write = redactor.redacted(.init(.written(Self.reports(0x43, [4, 0x0A, 2, 0xEE, 0xEE])[0])))
        expect(write.commandMask, is: [.init(offset: 10, length: 2)])
        let fips = redactor.redacted(.init(.written(Self.reports(0x03, [0, 0x43, 0, 0, 0, 0, 2, 0xEE, 0xEE])[0])))
        expect(fips.commandMask, is: [.init(offset: 14, length: 2)])
        #expect(redactor.redacted(.init(.written([1, 2]))).commandMask.isEmpty)
        let stray = [9, 9, 9, 9, 0] + [UInt8](repeating: 0xEE, count: 59)
        #expect(redactor.redacted(.init(.written(stray))).commandMask.isEmpty)
    }

    @Test func slotFrames() {
        var redactor = Redactor()
        let part = redactor.redacted(.init(.featureSet([1, 2, 3, 4, 5, 6, 7, 0x80])))
        expect(part.kind, is: .featureSet([0, 0, 0, 0, 0, 0, 0, 0x80]))
        let last = redactor.redacted(.init(.featureSet([1, 0x13, 3, 4, 0, 0, 0, 0x89])))
        expect(last.kind, is: .featureSet([0, 0x13, 3, 4, 0, 0, 0, 0x89]))
        #expect(redactor.redacted(.init(.featureSet([0, 0, 0, 0, 0, 0, 0, 0x8F]))).commandMask.isEmpty)
        let status: Capture.Event.Kind = .featureGot([0, 5, 4, 3, 1, 0, 0, 0])
        expect(redactor.redacted(.init(status)).kind, is: status)
        expect(redactor.redacted(.init(.delivered([1]))).kind, is: .delivered([1]))
        expect(redactor.redacted(.init(.link(.fail, why: "x"))).kind, is: .link(.fail, why: "x"))
    }

    @Test func masksAreJoined() {
        let masks: [Capture.Event.Mask] = [
            .init(offset: 5, length: 2), .init(offset: 1, length: 1), .init(offset: 6, length: 4),
            .init(offset: 2, length: 1), .init(offset: 3, length: 0), .init(offset: -1, length: 2),
        ]
        expect(Redactor.joined(masks), is: [.init(offset: 1, length: 2), .init(offset: 5, length: 5)])
        expect(Capture.Event.Mask(offset: 5, length: .max).end, is: .max)
    }

    /// No bytes make it trap, and it never points outside of them.
    @Test func randomSessions() {
        var random = SystemRandomNumberGenerator.seeded(11)
        let applets = [Self.oath, Self.piv, Self.fido, Self.otp, Self.management, Self.hsmAuth]
        for _ in 0..<3000 {
            var redactor = Redactor()
            let select = (try? Hex.decode(applets.randomElement(using: &random) ?? "")) ?? []
            _ = redactor.masks(command: select, reply: [0x90, 0])
            for _ in 0..<5 {
                let count = Int.random(in: 0...40, using: &random)
                var command = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
                if count > 5 {
                    command[1] = [0x01, 0x03, 0x10, 0x1C, 0xDB, 0xFE, 0x20].randomElement(using: &random) ?? 0
                    command[4] = UInt8(count - 5)
                }
                let masks = redactor.masks(command: command, reply: [1, 0x90, 0]).command
                #expect(masks.allSatisfy { $0.offset >= 0 && $0.length > 0 && $0.end <= command.count })
            }
        }
    }
}

extension CBOR.Map {
    static func of(_ pairs: KeyValuePairs<CBOR, CBOR>) -> CBOR.Map {
        var map = CBOR.Map()
        for (key, value) in pairs { map[key] = value }
        return map
    }
}

extension SystemRandomNumberGenerator {
    static func seeded(_ seed: UInt64) -> Seeded { Seeded(state: seed) }

    /// SplitMix64.
    struct Seeded: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }
}
