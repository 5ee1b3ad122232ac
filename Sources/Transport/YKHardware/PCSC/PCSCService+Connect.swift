// SPDX-License-Identifier: Apache-2.0

import YKTransport

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
}
