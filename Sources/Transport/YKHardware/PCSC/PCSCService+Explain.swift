// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKTransport
import YKWire

extension PCSCService {
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
