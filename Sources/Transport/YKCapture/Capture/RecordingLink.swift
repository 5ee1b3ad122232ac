// SPDX-License-Identifier: Apache-2.0

import YKTransport

/// A card link that records every exchange and every event of the underlying link in a capture.
final class RecordingLink: ForwardingCardLink {
    let link: any CardLink
    private let recorder: Recorder

    init(link: any CardLink, recorder: Recorder) {
        self.link = link
        self.recorder = recorder
    }

    func exchange(_ command: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8] {
        let reply = try recorder.noting { () throws(LinkError) in try link.exchange(command, deadline: deadline) }
        try recorder.append(.init(.exchange(command: command, reply: reply)))
        return reply
    }

    func begin(deadline: Deadline) throws(LinkError) -> Bool {
        let isLost = try recorder.noting { () throws(LinkError) in try link.begin(deadline: deadline) }
        if isLost { try recorder.append(.init(.link(.reset, why: "another program could have used the card"))) }
        return isLost
    }

    func reset(_ kind: CardReset, deadline: Deadline) throws(LinkError) {
        try recorder.noting { () throws(LinkError) in try link.reset(kind, deadline: deadline) }
        try recorder.append(.init(.link(.reset, why: nil)))
    }

    func close() {
        link.close()
        try? recorder.append(.init(.link(.powerOff, why: nil)))
    }
}
