// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import YKProtocols
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// The state file of a virtual key.
struct StateFileTests {
    private let folder = Folder()
    private var path: String { folder["key.json"] }

    private func send(_ link: any CardLink, _ command: APDU) throws -> ResponseAPDU {
        try ResponseAPDU(decoding: link.exchange(try command.encoded(.short), deadline: .after(.seconds(5))))
    }

    private func put(_ link: any CardLink, _ name: String) throws -> StatusWord {
        let data = TLV(0x71, Array(name.utf8)).encoded + TLV(0x73, [0x21, 6] + Bench.rfcSecret).encoded
        return try send(link, APDU(ins: 0x01, data: data)).status
    }

    private func names(_ link: any CardLink) throws -> [String] {
        try TLV.list(try send(link, APDU(ins: 0xA1)).data).map { String(decoding: $0.value.dropFirst(), as: UTF8.self) }
    }

    @Test("a new key is written at once, with mode 0600 and nothing beside it")
    func new() throws {
        let key = try VirtualKey(file: path, inputs: VirtualInputs(random: CountingRandom(from: 1)))
        expect(key.state.profile.serial, is: 0x0101_0203)
        expect(folder.mode("key.json"), is: 0o600)
        expect(folder.names, is: ["key.json"])
        try expect(VirtualKey(file: path).state, is: key.state)
    }

    @Test("what one run leaves the next one finds")
    func roundTrip() throws {
        let profile = DeviceProfile(version: FirmwareVersion(5, 2, 4), serial: 42, formFactor: 3, transport: .nfc)
        do {
            let link = try VirtualKey(file: path, profile: profile).link()
            try expect(send(link, .select(.oath)).status, is: .ok)
            try expect(put(link, "first"), is: .ok)
            try expect(put(link, "60/ünicöde \"quoted\"\n"), is: .ok)
        }
        let key = try VirtualKey(file: path)
        expect(key.state.profile, is: profile)
        let link = key.link()
        _ = try send(link, .select(.oath))
        try expect(names(link), is: ["first", "60/ünicöde \"quoted\"\n"])
        #expect(folder.names == ["key.json"] && folder.mode("key.json") == 0o600)
    }

    @Test("every field survives")
    func everyField() throws {
        var state = VirtualKeyState.demonstration()
        state.oath.accessKey = [1, 2, 3]
        state.oath.accounts[0].name = [0xFF, 0x00, 0xC3]
        state.oath.accounts[1].properties = [.increasing, .touch]
        state.oath.accounts[1].lastChallenge = [9, 9]
        state.oath.accounts[4].counter = .max
        state.ndef = "example.com/\u{1F511}"
        try expect(VirtualKeyState(JSONValue(parsing: state.json.prettyText)), is: state)
    }

    @Test("a file with every field of every application is read, and written with the same fields")
    func everyMemory() throws {
        let stored = try JSONValue(parsing: Recordings.fixture("virtual-key.json"))
        let state = try VirtualKeyState(stored)
        expect(Self.sorted(state.json), is: Self.sorted(stored))
        for (member, value) in stored.object?.members.map({ ($0.key, $0.value) }) ?? [] {
            guard case .object(let fields) = value else { continue }
            for field in fields.members {
                var wrong = stored.object ?? .init()
                var changed = fields
                changed[field.key] = .double(0.5)
                wrong[member] = .object(changed)
                let path = "\(member).\(field.key)"
                let fault = #expect(throws: StateFields.Fault.self) { try VirtualKeyState(.object(wrong)) }
                expect(fault?.field.hasPrefix(path), is: true, "\(path): \(String(describing: fault))")
            }
        }
    }

    @Test("a PIV slot of several bytes is refused")
    func slotOfSeveralBytes() throws {
        let text = String(decoding: Recordings.fixture("virtual-key.json"), as: UTF8.self)
        let place = try #require(text.firstRange(of: #""slot": "9a""#))
        let wrong = text.replacingCharacters(in: place, with: #""slot": "9a9c""#)
        let fault = #expect(throws: StateFields.Fault.self) {
            try VirtualKeyState(JSONValue(parsing: Array(wrong.utf8)))
        }
        expect(fault?.field, is: "piv.keys[0].slot")
    }

    /// The value with the members of each object in alphabetical order.
    private static func sorted(_ value: JSONValue) -> JSONValue {
        switch value {
        case .array(let elements): return .array(elements.map(sorted))
        case .object(let object):
            var ordered = JSONValue.Object()
            for member in object.members.sorted(by: { $0.key < $1.key }) { ordered[member.key] = sorted(member.value) }
            return .object(ordered)
        default: return value
        }
    }

    @Test("two links with the file of one key see each other's changes")
    func twoKeys() throws {
        let (first, second) = (try VirtualKey(file: path).link(), try VirtualKey(file: path).link())
        _ = try send(first, .select(.oath))
        _ = try put(first, "from first")
        #expect(try second.begin(deadline: .after(.seconds(1))))
        #expect(throws: LinkError.busy(reader: VirtualKey.readerName, holders: holders)) {
            try first.begin(deadline: .after(.milliseconds(1)))
        }
        _ = try send(second, .select(.oath))
        try expect(names(second), is: ["from first"])
        _ = try put(second, "from second")
        second.end()
        #expect(try first.begin(deadline: .after(.seconds(1))))
        try expect(send(first, APDU(ins: 0xA1)).status, is: .unknownInstruction)
        _ = try send(first, .select(.oath))
        try expect(names(first), is: ["from first", "from second"])
        first.close()
    }

    private var holders: [LinkError.Holder] {
        let kept = Folder.text(of: "/proc/self/comm").split(separator: "\n").first ?? ""
        let words = Folder.text(of: "/proc/self/cmdline").split(separator: "\0")
        let name = words.prefix(2).compactMap { $0.split(separator: "/").last }.first { $0.hasPrefix(kept) }
        return [LinkError.Holder(pid: getpid(), name: String(name ?? kept))]
    }

    @Test("a file in use is reported with the program that has it")
    func inUse() throws {
        let link = try VirtualKey(file: path).link()
        _ = try link.begin(deadline: .after(.seconds(1)))
        let error = #expect(throws: VirtualKeyFileError.self) { try VirtualKey(file: path, patience: .zero) }
        expect(error, is: .inUse(path: path, holders: holders))
        expect(error?.description.contains("process \(getpid())"), is: true)
        link.close()
    }

    @Test("a change that cannot be written did not happen")
    func unwritable() throws {
        let link = try VirtualKey(file: path).link()
        _ = try send(link, .select(.oath))
        let text = folder.read("key.json")
        let taken = (0..<100).map { "\(path).new-\(getpid())-\($0)" }
        for name in taken { mkdir(name, 0o700) }
        #expect(throws: LinkError.self) { try put(link, "lost") }
        expect(folder.read("key.json"), is: text)
        for name in taken { rmdir(name) }
        try expect(names(link), is: [])
        try expect(put(link, "kept"), is: .ok)
    }

    @Test("what is not a plain file is refused")
    func notAFile() throws {
        symlink("/etc/hostname", folder["link"])
        mkfifo(folder["pipe"], 0o600)
        for name in ["link", "pipe", ""] {
            #expect(throws: VirtualKeyFileError.notAFile(path: folder[name])) { try VirtualKey(file: folder[name]) }
        }
        #expect { try VirtualKey(file: folder["no/such"]) } throws: { error in
            if case .unwritable(_, ENOENT, _) = error as? VirtualKeyFileError { true } else { false }
        }
    }

    @Test(
        "a broken file is named with its line or field, and stays as it is",
        arguments: [
            ("", 1, nil), ("{\n\"ykit-virtual-key\": 1,\n  oops", 3, nil), ("[]", nil, "ykit-virtual-key"),
            ("{}", nil, "ykit-virtual-key"), (#"{"ykit-virtual-key":"1"}"#, nil, "ykit-virtual-key"),
            (#"{"ykit-virtual-key":1}"#, nil, "device"),
        ] as [(String, Int?, String?)])
    func broken(_ text: String, _ line: Int?, _ field: String?) throws {
        folder.write(text, "key.json")
        let error = #expect(throws: VirtualKeyFileError.self) { try VirtualKey(file: path) }
        guard case .broken(path, let foundLine, let foundField, _) = error else {
            Issue.record("unexpected: \(String(describing: error))")
            return
        }
        #expect(foundLine == line && foundField == field)
        expect(folder.read("key.json"), is: text)
    }

    @Test(
        "a field that is wrong is named",
        arguments: [
            ("\"serial\":16777217", "\"serial\":-1", "device.serial"),
            ("\"version\":\"5.7.1\"", "\"version\":\"5.7\"", "device.version"),
            ("\"transport\":\"usb\"", "\"transport\":\"rs232\"", "device.transport"),
            ("\"form\":1", "\"form\":256", "device.form"), ("\"form\":1", "\"form\":1,\"colour\":2", "device.colour"),
            ("\"ndef\":", "\"extra\":1,\"ndef\":", "extra"), ("\"ndef\":", "\"ndfe\":", "ndef"),
            ("\"salt\":\"796b", "\"salt\":\"79xb", "oath.salt"),
            ("\"accounts\":[", "\"accounts\":[4,", "oath.accounts[0]"),
            ("\"name\":\"Steam:frank\"", "\"name\":\"Counter:dave\"", "oath.accounts[6].name"),
            ("\"name\":\"Steam:frank\"", "\"name\":\"\"", "oath.accounts[6].name"),
            ("\"kind\":\"hotp\"", "\"kind\":\"motp\"", "oath.accounts[4].kind"),
            ("\"digits\":8", "\"digits\":9", "oath.accounts[1].digits"),
            ("\"touch\":true", "\"touch\":1", "oath.accounts[5].touch"),
            ("\"counter\":0", "\"counter\":\"0\"", "oath.accounts[4].counter"),
            ("\"secret\":\"3132", "\"secret\":\"\",\"x\":\"", "oath.accounts[0].secret"),
        ])
    func wrongField(_ old: String, _ new: String, _ field: String) throws {
        let text = VirtualKeyState.demonstration().json.text
        let place = try #require(text.firstRange(of: old))
        folder.write(text.replacingCharacters(in: place, with: new), "key.json")
        let error = #expect(throws: VirtualKeyFileError.self) { try VirtualKey(file: path) }
        guard case .broken(_, nil, field, _) = error else {
            Issue.record("unexpected: \(String(describing: error))")
            return
        }
        expect(error?.description.contains(field), is: true)
    }

    @Test("every cut of a file is refused")
    func cuts() throws {
        let bytes = Array(VirtualKeyState.demonstration().json.text.utf8)
        for count in bytes.indices {
            #expect(throws: (any Error).self) {
                try VirtualKeyState(JSONValue(parsing: Array(bytes.prefix(count))))
            }
        }
    }

    @Test("a file of a newer program is refused")
    func newer() throws {
        folder.write(#"{"ykit-virtual-key":2}"#, "key.json")
        #expect(throws: VirtualKeyFileError.newer(path: path, format: 2)) { try VirtualKey(file: path) }
    }

    @Test("a file of more than a mebibyte is refused")
    func large() throws {
        folder.write(String(repeating: " ", count: 1 << 20 | 1), "key.json")
        #expect { try VirtualKey(file: path) } throws: { error in
            if case .broken = error as? VirtualKeyFileError { true } else { false }
        }
    }
}

extension String {
    fileprivate func replacingCharacters(in range: Range<Index>, with new: String) -> String {
        String(self[..<range.lowerBound]) + new + String(self[range.upperBound...])
    }
}
