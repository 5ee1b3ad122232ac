// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKWire

@testable import YKBridge

/// The frames between the ends.
struct RemoteFrameTests {
    static let frames: [RemoteFrame] = [
        .hello(RemoteHello(versions: 1...3, program: "0.2.0")), .key([0, 0xA0]), .card([0x3B, 0x80]),
        .request(7, [4]), .touch(7),
        .reply(.max, [0x27]), .cancel(8), .alive, .end(RemoteEnding(.noDevice, "no uhid")),
        .request(1, [UInt8](repeating: 1, count: CTAPHID.messageLimit)),
    ]

    @Test("frames come out as they went in, in pieces of any size")
    func pieces() throws {
        let bytes = RemoteFrame.greeting + Self.frames.flatMap(\.encoded)
        for size in [1, 3, 64, bytes.count] {
            var reader = RemoteFrameReader(skipsNoise: false)
            var found: [RemoteFrame] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                reader.add(Array(bytes[start..<min(bytes.count, start + size)]))
                while let frame = try reader.next() { found.append(frame) }
            }
            expect(found, is: Self.frames)
            #expect(reader.noise.isEmpty)
        }
    }

    @Test("what a shell writes is skipped before the greeting of a far end, within limits")
    func noise() throws {
        for noise in ["", "Welcome\n", "ykit-", "ykit-remoteykit-remote", String(repeating: "x", count: 4000)] {
            var reader = RemoteFrameReader(skipsNoise: true)
            reader.add(Array(noise.utf8))
            #expect(try reader.next() == nil && reader.noise == Array(noise.utf8))
            reader.add(RemoteFrame.greeting + RemoteFrame.alive.encoded)
            try expect(reader.next(), is: .alive)
        }
        var flooded = RemoteFrameReader(skipsNoise: true)
        flooded.add([UInt8](repeating: 0x41, count: RemoteFrameReader.noiseLimit + 1))
        #expect(throws: WireError.self) { try flooded.next() }
        for text in ["x", "ykit-remotE\n", "ykit remote\n"] {
            var strict = RemoteFrameReader(skipsNoise: false)
            strict.add(Array(text.utf8))
            #expect(throws: WireError.self) { try strict.next() }
        }
    }

    @Test("frames that lie about their lengths, or are unknown, end the stream")
    func lies() throws {
        for bytes: [UInt8] in [
            [0, 0, 0, 0], [0xFF, 0xFF, 0xFF, 0xFF, 1], [0x7F, 0xFF, 0xFF, 0xFF], [0, 0, 0x1D, 0xBF], [0, 0, 0, 1, 0],
            [0, 0, 0, 1, 9], [0, 0, 0, 1, 99], [0, 0, 0, 2, 1, 1], [0, 0, 0, 3, 1, 3, 1], [0, 0, 0, 1, 2],
            [0, 0, 0, 4, 3, 0, 0, 0], [0, 0, 0, 5, 3, 0, 0, 0, 1], [0, 0, 0, 5, 5, 0, 0, 0, 1],
            [0, 0, 0, 6, 4, 0, 0, 0, 1, 1], [0, 0, 0, 2, 7, 0], [0, 0, 0, 1, 8],
        ] {
            var reader = RemoteFrameReader(skipsNoise: false)
            reader.add(RemoteFrame.greeting + bytes)
            #expect(throws: WireError.self, "\(bytes)") { try reader.next() }
        }
    }

    @Test("texts are cut to their limits")
    func texts() throws {
        let long = String(repeating: "a", count: 9000)
        var reader = RemoteFrameReader(skipsNoise: false)
        reader.add(RemoteFrame.greeting + RemoteFrame.hello(RemoteHello(program: long)).encoded)
        try expect(reader.next(), is: .hello(RemoteHello(program: String(long.prefix(64)))))
        reader.add(RemoteFrame.end(RemoteEnding(.done, long)).encoded)
        try expect(reader.next(), is: .end(RemoteEnding(.done, String(long.prefix(512)))))
        expect(RemoteEnding.Reason(rawValue: 200).description, is: "reason 200")
    }

    @Test("both ends find the same version, or none")
    func versions() {
        for (one, other, common) in [
            (1...1, 1...1, 1), (1...3, 2...5, 3), (2...5, 1...3, 3), (1...1, 2...3, nil), (4...9, 1...3, nil),
        ] as [(ClosedRange<UInt8>, ClosedRange<UInt8>, UInt8?)] {
            let (first, second) = (RemoteHello(versions: one, program: ""), RemoteHello(versions: other, program: ""))
            #expect(first.common(with: second) == common && second.common(with: first) == common)
        }
    }
}
