// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import YKTransport
import YKWire

/// The smart card service accessed through one library: provides workers, and explains failures.
final class PCSCService: Sendable {
    let library: PCSCLibrary
    /// The path of the service's socket.
    let socketPath: String
    /// An idle worker with a context.
    private let idle = Mutex<PCSCWorker?>(nil)

    init(library: PCSCLibrary, socketPath: String = PCSCService.usualSocketPath) {
        self.library = library
        self.socketPath = socketPath
    }

    deinit { idle.withLock { $0?.finish() } }

    /// The socket that libpcsclite uses: `PCSCLITE_CSOCK_NAME`, otherwise the distributions' default.
    static var usualSocketPath: String {
        getenv("PCSCLITE_CSOCK_NAME").map { String(cString: $0) } ?? "/run/pcscd/pcscd.comm"
    }

    private static let loaded = Mutex<PCSCService?>(nil)

    /// The service of this machine; the library is loaded at first use.
    static func shared() throws(LinkError) -> PCSCService {
        try loaded.withLock { loaded throws(LinkError) in
            if let loaded { return loaded }
            let service = PCSCService(library: try .load())
            loaded = service
            return service
        }
    }

    /// Returns a worker for the caller's exclusive use; waits while too many calls hang.
    func worker(_ deadline: Deadline) throws(LinkError) -> PCSCWorker {
        if let worker = idle.withLock({ $0.take() }) { return worker }
        while StuckCalls.isFull {
            try deadline.check("earlier calls of the smart card service to end")
            usleep(5000)
        }
        return try .start(library)
    }

    /// Takes back a worker without a card.
    func park(_ worker: PCSCWorker) {
        let isKept = idle.withLock { idle in
            guard idle == nil else { return false }
            idle = worker
            return true
        }
        if !isKept { worker.finish() }
    }

    /// Runs `body` on a worker, parks it afterwards, and explains its failure.
    func run<Value: Sendable>(
        _ doing: String, _ deadline: Deadline,
        _ body: @escaping @Sendable (PCSCSession) throws(PCSCFailure) -> Value
    ) throws(LinkError) -> Value {
        let worker = try worker(deadline)
        defer { if !worker.isAbandoned { park(worker) } }
        let result = try worker.run(doing, deadline) { session in
            attempt { () throws(PCSCFailure) in try body(session) }
        }
        return try lift(explain) { () throws(PCSCFailure) in try result.get() }
    }
}

/// The outcome of a piece of work as a value that can be handed over.
func attempt<Value, Failure: Error>(_ body: () throws(Failure) -> Value) -> Result<Value, Failure> {
    do { return .success(try body()) } catch { return .failure(error) }
}
