// SPDX-License-Identifier: Apache-2.0

import YKBridge
import YKInteraction
import YKWire

extension FuzzTarget {
    static let remote: [FuzzTarget] = [
        // A far end's stream, to the decision about each request.
        FuzzTarget(name: "remote-frames") { bytes in
            var reader = RemoteFrameReader(skipsNoise: true)
            reader.add(bytes)
            while let frame = try? reader.next() {
                var again = RemoteFrameReader(skipsNoise: false)
                again.add(RemoteFrame.greeting + frame.encoded)
                guard let same = try? again.next() else { fatalError("a frame cannot be read again") }
                // Texts may be cut in the middle of a character, which is replaced by a longer one.
                if case .request = frame { require(same == frame, "a request changes when it is sent again") }
                if case .request(_, let message) = frame { decide(message) }
            }
        },
        FuzzTarget(name: "remote-request") { decide($0) },
        // A user's stream to the system part of a guard: the request, then frames.
        FuzzTarget(name: "guard-stream") { bytes in
            let end = bytes.firstIndex(of: 0x0A) ?? bytes.endIndex
            let line = Array(bytes[..<end])
            if let notice = try? GuardNotice(decoding: line) {
                require(
                    Array(notice.encoded.dropLast()) == line || isNumber(line), "a notice changes when it is sent again"
                )
            }
            guard let request = try? GuardRequest(decoding: line) else { return }
            require(Array(request.encoded.dropLast()) == line, "a request changes when it is sent again")
            guard request == .serve else { return }
            var reader = RemoteFrameReader(skipsNoise: false)
            reader.add(Array(bytes[end...].dropFirst()))
            while let frame = try? reader.next() {
                require(frame.encoded.count <= RemoteFrame.limit + 5, "a frame of a wrong size")
            }
        },
        // Messages of a far end's reader, each with two bytes of length before it, to a card with all applications.
        FuzzTarget(name: "remote-card") { bytes in
            var card = CardRelay(CardFilter(RemoteApplication.allCases))
            var rest = bytes[...]
            while rest.count >= 2 {
                let length = Int(rest[rest.startIndex]) << 8 | Int(rest[rest.startIndex + 1])
                let message = Array(rest.dropFirst(2).prefix(length))
                rest = rest.dropFirst(2 + length)
                follow(card.take(message), &card)
            }
        },
    ]

    /// What a key may be sent, by application, in other words than the filter's: the instructions that use or read.
    private static let allowed: [RemoteApplication: Set<UInt8>] = [
        .piv: [0x20, 0x87, 0xCB, 0xF7, 0xFD], .oath: [0xA1, 0xA2, 0xA4],
        .openpgp: [0x20, 0x2A, 0x47, 0x88, 0xCA, 0xF1],
    ]

    private static func follow(_ step: CardRelay.Step, _ card: inout CardRelay) {
        switch step {
        case .answer(let bytes): require((2...7609).contains(bytes.count), "an answer of a wrong size")
        case .powered: require(card.selected == nil, "a selection outlives the power")
        case .command(let verdict):
            switch verdict {
            case .select(let application): card.select(application)
            case .read(let command), .use(let command, _):
                guard let selected = card.selected else { fatalError("a command without a selection") }
                require(allowed[selected]?.contains(command.ins) == true, "a forbidden instruction")
                require(command.cla == 0 && command.data.count <= 4096, "a class or length that is not allowed")
                let isKey = selected == .piv && command.ins == 0x87
                require(!isKey || command.p2 != 0x9B && command.p2 != 0xF9, "a key that is not the user's")
                require(command.ins != 0x20 || command.data.isEmpty, "a PIN of the far end")
                require(command.ins != 0x47 || command.p1 == 0x81, "a key is generated")
            case .verify(let pin): require([0x80, 0x81, 0x82].contains(pin.reference), "not the user's PIN")
            case .absent, .refuse: break
            }
            let reply = card.reply(verdict.neutral(ResponseAPDU(.ok, data: [UInt8](repeating: 5, count: 600))))
            require((2...7609).contains(reply.count), "a reply of a wrong size")
        }
    }

    /// Whether a line has a number, which can be written in several ways.
    private static func isNumber(_ line: [UInt8]) -> Bool { line.contains { (0x30...0x39).contains($0) } }

    /// What reaches the key is never more than what a policy allows.
    private static func decide(_ message: [UInt8]) {
        if case .request(let u2f) = U2FRequest.reading(message) {
            require(u2f.command.cla == 0 && (1...3).contains(u2f.command.ins), "a command that is not U2F's")
            require(u2f.command.ins != 2 || u2f.command.p1 == 3 || u2f.command.p1 == 7, "a signature without a touch")
        }
        guard let request = try? RemoteRequest(message) else { return }
        let decision = RemotePolicy().decision(on: request)
        if case .proceed(asks: false) = GuardPolicy().decision(on: request) {
            switch request.action {
            case .register, .signIn: fatalError("a guard does not ask")
            case .forbidden: fatalError("a guard passes on what is forbidden")
            case .u2f, .search, .next, .select, .read, .answer: break
            }
        }
        switch request.action {
        case .search, .forbidden, .u2f:
            if case .proceed = decision { fatalError("a request is passed on that is not allowed") }
        case .register(let ceremony), .signIn(let ceremony):
            guard RemotePolicy.isLocal(ceremony.rpID) else { return }
            if case .proceed = decision { fatalError("a local relying party is allowed") }
        case .next, .select, .read, .answer: break
        }
    }
}
