// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import YKCapture
import YKOATH
import YKTransport

/// The recordings under `captures/`.
enum Recordings {
    static let oath = [
        "canokey-short", "canokey-extended", "canokey-password-list", "canokey-password-set", "canokey-touch",
        "canokey-errors", "canokey-no-le-stall",
    ]

    static func load(_ name: String) throws -> Capture {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        return try Capture(parsing: try read("/\(root)/captures/oath/\(name).jsonl"))
    }

    static func open(_ name: String) async throws -> OATHService {
        let replay = CaptureReplay(try load(name), mode: .lookup)
        let channel = CardChannel(link: replay.link(), environment: replay.replaying(ServiceEnvironment()))
        return try await OATHService.open(channel)
    }

    private static func read(_ path: String) throws -> [UInt8] {
        let file = try #require(fopen(path, "r"))
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = fread(&bytes, 1, bytes.count, file)
        return Array(bytes.prefix(count))
    }
}
