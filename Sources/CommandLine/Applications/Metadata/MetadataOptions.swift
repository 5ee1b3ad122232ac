// SPDX-License-Identifier: Apache-2.0

package import Arguments
import TerminalIO
package import Verbs
import YKHardware
package import YKRelyingParty
import YKTransport
import YKWire
import YKX509

/// The signed list of authenticator models of the FIDO Alliance.
package struct MetadataOptions: ParsableArguments {
    package static let title = "Metadata Options"

    @Option(
        "--metadata <file>",
        help: "The signed list of models, as downloaded from mds3.fidoalliance.org; checked offline.",
        completion: .file)
    package var metadata: String?

    @Option(
        "--metadata-root <file>",
        help: "The root certificate of the list, PEM or DER, instead of the FIDO Alliance's.", completion: .file)
    var root: String?

    package init() {}

    package func check() throws {
        if root != nil, metadata == nil { throw UsageError("--metadata-root requires --metadata FILE") }
    }

    /// Reads and verifies the list; `nil` without the option. A list older than the last one is refused, and one whose
    /// successor is due causes a warning.
    package func list(in run: Run) throws -> MetadataBLOB? {
        guard let metadata else { return nil }
        let anchors = try root.map(Self.certificates) ?? MetadataBLOB.fidoAllianceAnchors
        let list = try MetadataBLOB(jwt: try Files.read(metadata), anchors: anchors, at: run.now)
        try Self.accept(list, anchors, run)
        if let fault = list.faults.first {
            let more = list.faults.count > 1 ? ", and \(list.faults.count - 1) more" : ""
            run.terminal.warn("list-in-part", "a part of the metadata list cannot be read: \(fault.printable)\(more)")
        }
        if list.nextUpdate < UTCDate(seconds: run.now) {
            run.terminal.warn(
                "list-out-of-date",
                "the metadata list is out of date: the next one was due on \(list.nextUpdate); later reports are missing"
            )
        }
        return list
    }

    private static func certificates(_ file: String) throws -> [[UInt8]] {
        let bytes = try Files.read(file)
        let found = PEM.contents("CERTIFICATE", in: bytes)
        if !found.isEmpty { return found }
        guard (try? X509Certificate(der: bytes)) != nil else {
            throw Explanation.malformed("\(file.printable) has no certificate")
        }
        return [bytes]
    }

    /// Compares the list's number with the last one seen, which is kept in ykit's state folder, and stores it.
    private static func accept(_ list: MetadataBLOB, _ anchors: [[UInt8]], _ run: Run) throws {
        guard let folder = UserFolder.state.path({ run.variable($0) }) else {
            return run.terminal.warn("no-home", "HOME is not set, so ykit cannot detect an older list")
        }
        try UserFolder.makeWritable(folder)
        let path = folder + "/metadata.json"
        try UserFolder.locked(folder, run.environment.cancellation) {
            var floor = MetadataFloor()
            do throws(MetadataError) {
                if Files.isFile(path) { floor = try MetadataFloor(parsing: try read(path)) }
                let before = floor
                try floor.accept(list, anchors: anchors)
                guard floor != before else { return }
            } catch {
                var explanation = Explanation(error)
                if case .rollback = error {
                    explanation.hint = "\(explanation.hint ?? ""); the numbers seen are in \(path.printable)"
                } else {
                    explanation = .malformed(
                        "\(path.printable), the record of lists that were seen, is damaged",
                        hint: "remove it only if you trust this list to be current")
                }
                throw explanation
            }
            try Files.write(Array(floor.json.text.utf8), to: path)
        }
    }

    private static func read(_ path: String) throws(MetadataError) -> [UInt8] {
        do { return try Files.read(path, upTo: 1 << 16) } catch { throw .malformed(error.message) }
    }
}
