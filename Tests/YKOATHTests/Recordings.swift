// SPDX-License-Identifier: Apache-2.0

import YKCapture
import YKOATH
import YKTestSupport
import YKTransport

extension Recordings {
    static let oath = [
        "canokey-short", "canokey-extended", "canokey-password-list", "canokey-password-set", "canokey-touch",
        "canokey-errors", "canokey-no-le-stall",
    ]

    static func open(_ name: String) async throws -> OATHService {
        let replay = CaptureReplay(try capture("oath/\(name)"), mode: .lookup)
        let channel = CardChannel(link: replay.link(), environment: replay.replaying(ServiceEnvironment()))
        return try await OATHService.open(channel)
    }
}
