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

extension PCSCService {
    /// Lists the readers and their cards.
    func readers(_ deadline: Deadline) throws(LinkError) -> [ReaderStatus] {
        try run("the list of readers", deadline) { session throws(PCSCFailure) in
            try session.readers().map(\.status)
        }
    }

    /// Connects to the card in a reader.
    func connect(
        reader: String, share: PCSC.Share, deadline: Deadline
    ) throws(LinkError) -> sending any CardLink {
        let target = PCSCSession.Target(reader: reader, share: share)
        let worker = try worker(deadline)
        let result: Result<CardFacts, PCSCFailure>
        do {
            result = try worker.run("the card in \(reader) to be free", deadline) { session in
                attempt { () throws(PCSCFailure) in try session.connect(target) }
            }
        } catch {
            if !worker.isAbandoned { park(worker) }
            throw explainWaiting(error, for: reader)
        }
        switch result {
        case .success(let facts): return PCSCLink(self, worker, target, facts)
        case .failure(let failure):
            park(worker)
            throw try missing(explainConnecting(failure, to: reader), deadline)
        }
    }

    /// Reports `noReader` rather than `unknownReader` when no reader is attached.
    private func missing(_ error: LinkError, _ deadline: Deadline) throws(LinkError) -> LinkError {
        guard case .unknownReader = error else { return error }
        return try readers(deadline).isEmpty ? .noReader : error
    }

    /// Explains the failure of a call that involves no card.
    func explain(_ failure: PCSCFailure) -> LinkError {
        if failure.code == .noReaders { return .noReader }
        if failure.code.meansServiceLost { return explainLoss(failure) }
        return .failed(code: failure.code.rawValue, failure.step.rawValue)
    }

    /// Explains why connecting to the card in this reader failed.
    func explainConnecting(_ failure: PCSCFailure, to reader: String) -> LinkError {
        guard failure.step == .connect else { return explain(failure) }
        switch failure.code {
        case .noSmartcard, .removedCard: return .noCard(reader: reader)
        case .unknownReader, .readerUnavailable: return .unknownReader(reader)
        case .sharingViolation: return .busy(reader: reader, holders: holders())
        case let code where code.meansUnresponsive: return .unresponsive("\(reader): \(code)")
        case let code where code.meansServiceLost:
            // pcscd up to 1.9.9 disconnects a client to which polkit denies the card.
            return ServiceProbe.ask(socketPath) == .answers ? .accessDenied(.card(reader: reader)) : explain(failure)
        default: return explain(failure)
        }
    }

    /// Explains the failure of a connected link.
    func explainConnected(_ failure: PCSCFailure, to reader: String) -> LinkError {
        switch failure.code {
        case .resetCard: .reset
        case let code where code.meansRemoved: .removed
        case let code where code.meansUnresponsive: .unresponsive("\(reader): \(code)")
        case .sharingViolation: .busy(reader: reader, holders: holders())
        case .insufficientBuffer: .malformed(WireError(.tooLarge, at: 0, "the reply is longer than any response APDU"))
        case let code where code.meansServiceLost: .serviceNotRunning
        default: .failed(code: failure.code.rawValue, failure.step.rawValue)
        }
    }

    /// Explains a wait for a card that timed out: busy when the service works and others use it, otherwise the original
    /// error.
    func explainWaiting(_ error: LinkError, for reader: String) -> LinkError {
        guard case .timedOut = error, ServiceProbe.ask(socketPath) == .answers else { return error }
        let holders = holders()
        return holders.isEmpty ? error : .busy(reader: reader, holders: holders)
    }

    /// The other processes that are connected to the service.
    func holders() -> [LinkError.Holder] { ServiceClients.others(of: socketPath) }

    private func explainLoss(_ failure: PCSCFailure) -> LinkError {
        var finding = ServiceProbe.ask(socketPath)
        if finding == .hangsUp {
            // A daemon that is terminating disconnects clients too, but not for long.
            usleep(50_000)
            finding = ServiceProbe.ask(socketPath)
        }
        switch finding {
        case .absent: return ServiceProbe.isInstalled ? .serviceNotRunning : .serviceNotInstalled
        case .forbidden: return .accessDenied(.socket(path: socketPath))
        case .hangsUp where failure.step == .establish: return .accessDenied(.service)
        case .answers where [.securityViolation, .noAccess].contains(failure.code): return .accessDenied(.service)
        case .answers where failure.step == .establish: return .serviceMismatch
        case .hangsUp, .answers, .silent: return .serviceNotRunning
        }
    }
}
