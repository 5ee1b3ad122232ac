// SPDX-License-Identifier: Apache-2.0

import YKCapture
import YKTransport

extension FuzzTarget {
    static let captures: [FuzzTarget] = [
        FuzzTarget(name: "capture") { bytes in
            guard let capture = try? Capture(parsing: bytes) else { return }
            let again = try? Capture(parsing: Array(capture.text.utf8))
            require(again?.text == capture.text, "a capture changes when written and read")
        },
        FuzzTarget(name: "narrator") { bytes in
            var narrator = Narrator()
            var events = pieces(bytes)[...]
            while let command = events.popFirst() {
                let reply = events.popFirst() ?? []
                _ = narrator.narrate(Capture.Event(.exchange(command: command, reply: reply)))
                _ = narrator.narrate(Capture.Event(.written(command)))
                _ = narrator.narrate(Capture.Event(.delivered(reply)))
            }
        },
        FuzzTarget(name: "import-log") { bytes in
            for format in CaptureImport.Format.allCases { _ = try? CaptureImport.sessions(in: bytes, from: format) }
            _ = try? CaptureImport.read(bytes)
        },
        FuzzTarget(name: "lookup") { bytes in
            let parts = pieces(bytes)
            let half = parts.count / 2
            let events = parts[..<half].enumerated().flatMap { index, part in
                index % 2 == 0
                    ? [Capture.Event(.written(part)), .init(.exchange(command: part, reply: [0x61, 0x00]))]
                    : [Capture.Event(.delivered(part)), .init(.exchange(command: part, reply: part))]
            }
            let replay = CaptureReplay(Capture(header: .init(link: .hid), events: events), mode: .lookup)
            let (card, device, soon) = (replay.link(), replay.reportLink(), Deadline.after(.seconds(10)))
            for part in parts[half...] {
                _ = try? card.exchange(part, deadline: soon)
                _ = try? device.write(part + [UInt8](repeating: 0, count: max(0, 64 - part.count)), deadline: soon)
                while (try? device.read(deadline: soon)) != nil {}
            }
        },
    ]
}
