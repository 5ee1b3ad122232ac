// SPDX-License-Identifier: Apache-2.0

package import YKHardware
package import YKTransport
package import YKWire

/// Why a part of a guard did not start, or ended.
package enum GuardError: Error, Hashable, Sendable {
    /// No system part listens at this path.
    case notRunning(path: String)
    /// This user may not use the system part.
    case denied(path: String)
    /// Another user's part is served: its process.
    case busy(process: Int32)
    /// The system part could not take the node of the key: the error number.
    case nodeNotTaken(number: Int32)
    /// These browsers would not find the device: names of snaps.
    case unseen(browsers: [String])
    /// The socket of the system part could not be created.
    case socket(LocalSocketError)
    /// The process that would give the key back could not be started, or has ended.
    case noKeeper
    /// The system part ended the connection.
    case lost
    /// The other part violated the protocol.
    case violation(WireError)
    /// It was cancelled.
    case cancelled
}

/// A connection of a user's program to the system part of a guard.
package final class GuardConnection: Sendable {
    private let connection: LocalConnection

    /// The descriptor, on which frames follow ``GuardNotice/key(node:)``.
    package var descriptor: Int32 { connection.descriptor }

    /// Connects, and sends a request.
    ///
    /// - Throws: `notRunning`, `denied` or `lost`.
    package init(_ request: GuardRequest, at path: String = GuardSystem.path) throws(GuardError) {
        do { connection = try LocalConnection(to: path, within: .seconds(3)) } catch {
            throw error == .denied ? .denied(path: path) : .notRunning(path: path)
        }
        guard connection.send(request.encoded) else { throw .lost }
    }

    /// Returns the next notice.
    ///
    /// - Throws: `lost` at the end of the connection, `violation` for anything that is no notice, `cancelled` after any of
    ///   the cancellations.
    package func notice(until cancellations: [Cancellation]) throws(GuardError) -> GuardNotice {
        let line: [UInt8]
        do { line = try connection.line(limit: GuardNotice.limit, until: cancellations) } catch {
            switch error {
            case .cancelled: throw .cancelled
            case .tooLong(let limit):
                throw .violation(WireError(.tooLarge, at: limit, "a line of more than \(limit) bytes"))
            case .nobody, .denied, .ended: throw .lost
            }
        }
        do { return try GuardNotice(decoding: line) } catch { throw .violation(error) }
    }
}
