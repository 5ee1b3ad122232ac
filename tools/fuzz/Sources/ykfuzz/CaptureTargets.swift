// SPDX-License-Identifier: Apache-2.0

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
        },
    ]
}
