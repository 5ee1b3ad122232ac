// SPDX-License-Identifier: Apache-2.0

import YKTransport

extension FuzzTarget {
    static let captures: [FuzzTarget] = [
        FuzzTarget(name: "capture") { bytes in
            guard let capture = try? Capture(parsing: bytes) else { return }
            let again = try? Capture(parsing: Array(capture.text.utf8))
            require(again?.text == capture.text, "a capture changes when written and read")
        }
    ]
}
