// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKProtocols
import YKTransport
import YKWire

/// A Type 4 tag made of files, to be made to lie; remembers what it was asked.
final class Tag: CardLink {
    /// What the tag does.
    struct Script: Sendable {
        /// The applications by name; the second one is of mapping version 1.
        var applications: [AID] = [.ndef]
        var files: [UInt16: [UInt8]] = [:]
        /// What answers instead of the files, by the number of the exchange, from 1.
        var instead: [Int: Result<[UInt8], LinkError>] = [:]
        /// The most bytes that are given, whatever is asked for.
        var most = 65_536
        /// How long the tag takes for an answer.
        var pause = Duration.zero
        /// What becomes of the files at an exchange.
        var later: [Int: [UInt16: [UInt8]]] = [:]

        /// A tag with a message.
        init(_ message: [UInt8], container: CapabilityContainer = .init(fileSize: 2000, readLimit: 60)) {
            files[CapabilityContainer.fileID] = container.encoded
            files[container.file] = Self.file(message, container.lengthWidth)
        }

        static func file(_ message: [UInt8], _ width: Int = 2, length: Int? = nil) -> [UInt8] {
            var writer = ByteWriter()
            writer.bigEndian(UInt64(length ?? message.count), width)
            return writer.bytes + message
        }
    }

    final class Log: Sendable {
        private let state = Mutex<[String]>([])
        var commands: [String] { state.withLock { $0 } }
        func append(_ command: [UInt8]) { state.withLock { $0.append(Hex.encode(command)) } }
    }

    let identity = CardIdentity(reader: "tag", atr: [0x3B, 0x80, 0x80, 0x01, 0x01])
    private var script: Script
    private let log: Log
    private var selected: UInt16?
    private var count = 0

    init(_ script: Script, _ log: Log = Log()) {
        self.script = script
        self.log = log
    }

    func exchange(_ command: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8] {
        log.append(command)
        count += 1
        Pause.system(script.pause, deadline)
        if let files = script.later[count] { script.files.merge(files) { $1 } }
        if let instead = script.instead[count] { return try instead.get() }
        guard let apdu = try? APDU(decoding: command) else { return [0x67, 0x00] }
        switch (apdu.ins, apdu.p1) {
        case (0xA4, 4):
            return script.applications.contains { $0.rawValue == apdu.data } ? [0x90, 0] : [0x6A, 0x82]
        case (0xA4, _):
            let file = UInt16(apdu.data[0]) << 8 | UInt16(apdu.data[1])
            guard script.files[file] != nil else { return [0x6A, 0x82] }
            selected = file
            return [0x90, 0]
        case (0xB0, _): return read(at: Int(apdu.p1) << 8 | Int(apdu.p2), apdu.le) + [0x90, 0]
        case (0xB1, _):
            let offset = apdu.data.dropFirst(2).reduce(0) { $0 << 8 | Int($1) }
            return TLV(0x53, read(at: offset, apdu.le)).encoded + [0x90, 0]
        default: return [0x6D, 0]
        }
    }

    private func read(at offset: Int, _ le: APDU.Le) -> [UInt8] {
        guard case .bytes(let wanted) = le else { return [] }
        let file = selected.flatMap { script.files[$0] } ?? []
        return Array(file.dropFirst(offset).prefix(min(Int(wanted), script.most)))
    }

    func begin(deadline: Deadline) -> Bool { false }
    func end() {}
    func reset(_ kind: CardReset, deadline: Deadline) {}
    func close() {}
}
