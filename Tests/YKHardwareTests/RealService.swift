// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Synchronization
import Testing
import YKTestSupport
import YKTransport

@testable import YKHardware

/// The tests against a real pcscd, one after the other: some need the machine's attention.
@Suite(.serialized) enum RealPCSCD {}

/// libpcsclite bound to a daemon of our own.
enum RealService {
    private static let environment = Mutex(0)

    /// Opens a private copy of libpcsclite: the library keeps the first socket name it meets for ever, so each daemon
    /// needs a copy of its own, and asks for it while the environment names the daemon.
    static func library(socket path: String) throws -> PCSCLibrary {
        let copy = NSTemporaryDirectory() + "ykit-libpcsclite-\(UUID().uuidString).so"
        try FileManager.default.copyItem(atPath: installed, toPath: copy)
        defer { try? FileManager.default.removeItem(atPath: copy) }
        return try environment.withLock { _ in
            let library = try PCSCLibrary.load(copy)
            setenv("PCSCLITE_CSOCK_NAME", path, 1)
            defer { unsetenv("PCSCLITE_CSOCK_NAME") }
            var context = 0
            if library.establishContext(&context) == 0 { _ = library.releaseContext(context) }
            return library
        }
    }

    static func at(_ path: String) throws -> PCSCService {
        PCSCService(library: try library(socket: path), socketPath: path)
    }

    /// Where the library that this machine has is. (Asking the loader does not help: a copy goes by the same soname.)
    private static let installed: String = {
        let folders = ["x86_64-linux-gnu/", "aarch64-linux-gnu/", "", "../lib64/"].map { "/usr/lib/\($0)" }
        let path = folders.map { $0 + PCSCLibrary.soname }.first { access($0, R_OK) == 0 } ?? PCSCLibrary.soname
        return URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    }()
}

/// A daemon with a few readers, and the service over it.
struct Lab {
    let sandbox: PCSCDSandbox
    let service: PCSCService
    /// The readers' names in the order of the ports.
    let readers: [String]

    init(readers count: Int = 1) throws {
        sandbox = try PCSCDSandbox(readers: count)
        service = try RealService.at(sandbox.socketPath)
        readers = try service.readers(.soon).map(\.name)
    }

    /// Plugs a card in and waits until pcscd has powered it.
    func plug(
        _ index: Int = 0, atr: [UInt8] = VPCDCard.atr,
        _ react: @escaping @Sendable ([UInt8]) -> VPCDCard.Reaction = VPCDCard.echo
    ) throws -> VPCDCard {
        let card = try VPCDCard(port: sandbox.ports[index], atr: atr, react)
        try waitFor(index) { $0.hasCard && !$0.atr.isEmpty }
        return card
    }

    /// Waits until pcscd sees a reader in a certain state.
    func waitFor(_ index: Int = 0, _ isReached: (ReaderStatus) -> Bool) throws {
        let session = PCSCSession(library: service.library)
        defer { session.forget() }
        for _ in 0..<50 {
            let now = try session.readers()
            guard let reader = now.first(where: { $0.status.name == readers[index] }) else { continue }
            if isReached(reader.status) { return }
            _ = try session.states(of: now, wait: 200)
        }
        throw PCSCDSandbox.Failure(description: "\(readers[index]) did not get there")
    }

    func connect(
        _ index: Int = 0, share: PCSC.Share = .shared, deadline: Deadline = .soon
    ) throws(LinkError) -> any CardLink {
        try service.connect(reader: readers[index], share: share, deadline: deadline)
    }
}

extension Deadline {
    /// Long enough for anything that works.
    static var soon: Deadline { .after(.seconds(20)) }
}
