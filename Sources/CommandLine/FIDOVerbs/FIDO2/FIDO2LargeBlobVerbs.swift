// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKCrypto
import YKFIDO
import YKKeys
import YKWire

/// Commands for large blobs.
struct FIDO2LargeBlob: ParsableCommand {
    static let about = About(
        "Manage large blobs: data that the key stores for its credentials.",
        discussion: """
            A credential created with --large-blob can have one. Most keys store the blobs in one array, each encrypted with its \
            own key; keys with CTAP 2.3's largeBlob store each with its credential, and must be touched to read or write it.
            """,
        subcommands: [
            "list": FIDO2LargeBlobList.self, "get": FIDO2LargeBlobGet.self, "set": FIDO2LargeBlobSet.self,
            "delete": FIDO2LargeBlobDelete.self, "prune": FIDO2LargeBlobPrune.self,
        ],
        examples: [Example("ykit fido2 large-blob list")])
}

/// The large blob of a credential: in the key's array, or stored by the credential itself.
struct LargeBlobPlace {
    private let service: FIDOService
    private let found: DiscoverableCredential
    private let run: Run
    /// The key of its entry in the array; `nil` if the credential stores the blob itself.
    private let key: SharedSecret?

    /// Finds the place, for which some keys must be touched. A credential without a large-blob key cannot have a blob in the array.
    init(of found: DiscoverableCredential, _ service: FIDOService, _ run: Run) async throws {
        (self.found, self.service, self.run) = (found, service, run)
        guard try await !service.hasDirectLargeBlobs() else {
            key = nil
            return
        }
        key = try await service.largeBlobKey(of: found.credential, rpID: found.relyingParty.id) {
            [terminal = run.terminal] in
            terminal.notice("touch to approve: find the large blob of \(found.words)")
        }
        guard key == nil else { return }
        throw Explanation(
            "no-large-blob-key", .notSupported,
            "the key reports no large-blob key for the credential of \(found.words)",
            hint: "a credential has one if it was created with: ykit fido2 register --large-blob")
    }

    /// The blob; `nil` if there is none.
    ///
    /// - Parameter isAnnounced: Whether a key whose credential stores the blob is touched; `false` reads it without.
    func read(announcing isAnnounced: Bool = true) async throws -> [UInt8]? {
        if let key { return try await service.largeBlob(key: key) }
        if isAnnounced { run.announce(to: "read the large blob of \(found.words)") }
        return try await service.directLargeBlob(
            of: found.credential.id, rpID: found.relyingParty.id, requiresPresence: isAnnounced)
    }

    /// Replaces the blob.
    func write(_ blob: [UInt8]) async throws {
        if let key { return try await service.setLargeBlob(blob, key: key) }
        run.announce(to: "write the large blob of \(found.words)")
        try await service.setDirectLargeBlob(blob, of: found.credential.id, rpID: found.relyingParty.id)
    }

    /// Removes the blob; `false` if there is none.
    func remove() async throws -> Bool {
        if let key { return try await service.removeLargeBlob(key: key) }
        guard try await read(announcing: false) != nil else { return false }
        run.announce(to: "remove the large blob of \(found.words)")
        try await service.setDirectLargeBlob([], of: found.credential.id, rpID: found.relyingParty.id)
        return true
    }
}

extension Run {
    /// Returns the selected credential, and where its large blob is.
    ///
    /// - Parameter choose: Finds the credential among all.
    func openLargeBlob(
        _ pin: PINOptions, for reason: String, _ choose: ([DiscoverableCredential]) throws -> DiscoverableCredential
    ) async throws -> (LargeBlobPlace, DiscoverableCredential) {
        let service = try await openLargeBlobs(pin, for: reason)
        let found = try choose(try await service.discoverableCredentials())
        return (try await LargeBlobPlace(of: found, service, self), found)
    }

    /// Opens the FIDO application of a key that supports large blobs.
    func openLargeBlobs(_ pin: PINOptions, for reason: String) async throws -> FIDOService {
        let service = try await openCredentials(pin, for: reason)
        if try await service.hasDirectLargeBlobs() { return service }
        guard try await service.info().option(.largeBlobs) == true else { throw FIDOError.unsupported("largeBlobs") }
        return service
    }
}

/// Lists the credentials that can have a large blob, and the blobs.
struct FIDO2LargeBlobList: Verb {
    static let about = About(
        "List the credentials with a large blob, and the free space.",
        examples: [Example("ykit fido2 large-blob list")])

    /// A credential that can have a blob.
    struct Place: Report {
        let credential: DiscoverableCredential
        let size: Int?
        static let members: [Member<Self>] = [
            Member("rpId") { $0.credential.relyingParty.id }, Member("userName") { $0.credential.name },
            Member("credentialId") { $0.credential.id }, Member("size", "in bytes; null without a blob") { $0.size },
        ]

        var row: [String] {
            let words = size.map { "\($0) bytes" } ?? "none"
            return [credential.relyingParty.id.printable, credential.name.printable, words, credential.id]
        }
    }

    struct Listing: Report {
        let places: [Place]
        /// The array; `nil` if the credentials store their blobs.
        var usage: (entries: Int, bytes: Int, limit: Int)?

        private var count: Int { usage?.entries ?? places.count { $0.size != nil } }

        static let members: [Member<Self>] = [
            Member("blobs") { $0.places }, Member("entries", "how many blobs the key stores") { $0.count },
            Member("bytes", "the space they use; null if each is with its credential") { $0.usage?.bytes },
            Member("limit", "in bytes; null if each is with its credential") { $0.usage?.limit },
        ]

        var room: String {
            guard let usage else { return "\(count) blobs, each with its credential" }
            return "\(usage.entries) blobs, \(usage.bytes) of \(usage.limit) bytes used"
        }
    }

    @OptionGroup var pin: PINOptions

    func run(in run: Run) async throws -> Outcome<Listing> {
        let service = try await run.openLargeBlobs(pin, for: "list its credentials")
        let isDirect = try await service.hasDirectLargeBlobs()
        var places: [Place] = []
        for found in try await service.discoverableCredentials()
        where isDirect || found.credential.largeBlobKey != nil {
            let blob = try await LargeBlobPlace(of: found, service, run).read(announcing: false)
            places.append(Place(credential: found, size: blob?.count))
        }
        var listing = Listing(places: places)
        if !isDirect { listing.usage = try await service.largeBlobUsage() }
        return Outcome(listing, Table.lines(places.map(\.row)) + [listing.room])
    }
}

/// Reads a credential's large blob.
struct FIDO2LargeBlobGet: Verb {
    static let about = About(
        "Print a credential's large blob, or write it to a file.",
        examples: [Example("ykit fido2 large-blob get alice --output note.txt")])
    typealias Reported = (credentialID: String, blob: [UInt8], file: String?)
    static let answer = Shape<Reported>(
        Member("credentialId") { $0.credentialID },
        Member("blob", "null if written to a file") { $0.file == nil ? Base64.encodeURL($0.blob) : nil },
        Member("size", "in bytes") { $0.blob.count }, Member("output", "the file") { $0.file })

    @Argument("credential", isBase64URL: true, help: DiscoverableCredential.help) var credential: EntryQuery

    @Option(["--output <file>", "-o"], help: "Where to write the data.") var output: String?

    @OptionGroup var replacing: OutputOptions
    @OptionGroup var pin: PINOptions

    func run(in run: Run) async throws -> Outcome<Reported> {
        let file = try output.map { path in try FileOutput(path, isSecret: true, force: replacing.force, run) }
        let (place, found) = try await run.openLargeBlob(pin, for: "find the credential") {
            try run.entry(credential, in: $0)
        }
        guard let blob = try await place.read() else {
            throw Explanation(
                "no-large-blob", .notFound, "the credential of \(found.words) has no large blob",
                hint: "write one with: ykit fido2 large-blob set")
        }
        var outcome = Outcome((credentialID: found.id, blob: blob, file: output))
        if let output, let file {
            try file.put(blob, &outcome.answer)
            outcome.answer.lines = ["\(output): \(blob.count) bytes"]
        } else {
            outcome.answer.raw = blob
        }
        return outcome
    }
}

/// Writes a credential's large blob.
struct FIDO2LargeBlobSet: Verb {
    static let about = About(
        "Write a credential's large blob, replacing any earlier one.",
        examples: [Example("ykit fido2 large-blob set alice@example.com note.txt")])
    static let answer = Shape(Item<String>("credentialId"), Item<Int>("size", "in bytes"))

    @Argument("credential", isBase64URL: true, help: DiscoverableCredential.help) var credential: EntryQuery

    @Argument("file", help: "What to write: a file, or - for standard input.", completion: .input) var file: String

    @OptionGroup var pin: PINOptions

    func run(in run: Run) async throws -> Outcome<(String, Int)> {
        let blob = try Files.read(file)
        let (place, found) = try await run.openLargeBlob(pin, for: "write a large blob") {
            try run.entry(toChange: credential, in: $0, .forPart) {
                "the large blob of \($0.words) would be lost: replace it?"
            }
        }
        try await place.write(blob)
        return Outcome((found.id, blob.count), "wrote \(blob.count) bytes for \(found.words)")
    }
}

/// Removes a credential's large blob.
struct FIDO2LargeBlobDelete: Verb {
    static let about = About(
        "Remove a credential's large blob; the credential stays.",
        examples: [Example("ykit fido2 large-blob delete alice@example.com")])
    static let answer = Shape(Item<String>("credentialId"))

    @Argument("credential", isBase64URL: true, help: DiscoverableCredential.help) var credential: EntryQuery

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var pin: PINOptions

    func run(in run: Run) async throws -> Outcome<String> {
        let (place, found) = try await run.openLargeBlob(pin, for: "remove a large blob") {
            try run.entry(toChange: credential, in: $0, .always(unless: confirmation)) {
                "the large blob of \($0.words) would be lost: delete it?"
            }
        }
        guard try await place.remove() else {
            throw Explanation("no-large-blob", .notFound, "the credential of \(found.words) has no large blob")
        }
        return Outcome(found.id, "deleted the large blob of \(found.words)")
    }
}

/// Removes the large blobs that belong to no credential.
struct FIDO2LargeBlobPrune: Verb {
    static let about = About(
        "Remove large blobs that belong to no credential on the key.",
        discussion: "Blobs of credentials that are not stored on the key are also removed, after confirmation.",
        examples: [Example("ykit fido2 large-blob prune")])
    static let answer = Shape(Item<Int>("removed", "how many"))

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var pin: PINOptions

    func run(in run: Run) async throws -> Outcome<Int> {
        let service = try await run.openLargeBlobs(pin, for: "list its credentials")
        if try await service.hasDirectLargeBlobs() {
            return Outcome(0, "nothing to prune: this key stores each blob with its credential")
        }
        let credentials = try await service.discoverableCredentials()
        let keys = credentials.compactMap(\.credential.largeBlobKey)
        // A key that lists no large-blob keys would have all blobs removed.
        let question =
            keys.isEmpty && !credentials.isEmpty
            ? "the key lists no large blob for any of its credentials: remove all large blobs?"
            : "remove all large blobs but those of \(keys.count == 1 ? "one credential" : "\(keys.count) credentials")?"
        try confirmation.ask(question, in: run)
        let removed = try await service.removeOrphanedLargeBlobs(keeping: keys.map { SharedSecret(Secret($0)) })
        return Outcome(removed, "removed \(removed) large blobs")
    }
}
