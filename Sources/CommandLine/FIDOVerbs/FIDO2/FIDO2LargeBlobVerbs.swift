// SPDX-License-Identifier: Apache-2.0

import Arguments
import Verbs
import YKCrypto
import YKFIDO
import YKKeys
import YKWire

/// Commands for large blobs.
struct FIDO2LargeBlob: ParsableCommand {
    static let about = About(
        "large-blob", "Manage large blobs: data that the key stores for its credentials.",
        discussion: "A credential created with --large-blob can have one, encrypted with a key of its own.",
        subcommands: [
            FIDO2LargeBlobList.self, FIDO2LargeBlobGet.self, FIDO2LargeBlobSet.self, FIDO2LargeBlobDelete.self,
            FIDO2LargeBlobPrune.self,
        ])
}

extension FIDOService {
    /// Returns a credential's large-blob key, for which some keys must be touched; without one, the credential cannot have
    /// a blob.
    fileprivate func largeBlobKey(of found: DiscoverableCredential, _ terminal: Terminal) throws -> SharedSecret {
        let key = try largeBlobKey(of: found.credential, rpID: found.relyingParty.id) {
            terminal.notice("to be approved: find the large blob of \(found.words)")
        }
        if let key { return key }
        throw Explanation(
            "no-large-blob-key", .notSupported,
            "the key reports no large-blob key for the credential of \(found.words)",
            hint: "a credential has one if it was created with: ykit fido2 register --large-blob")
    }
}

extension World {
    /// Returns the FIDO application, its credentials, and the selected one.
    func openLargeBlob(
        of query: String, _ pin: PINOptions, for reason: String
    ) async throws -> (FIDOService, DiscoverableCredential) {
        let service = try await openLargeBlobs(pin, for: reason)
        return (service, try DiscoverableCredential.one(query, in: try await service.discoverableCredentials(), self))
    }

    /// Opens the FIDO application of a key that supports large blobs.
    func openLargeBlobs(_ pin: PINOptions, for reason: String) async throws -> FIDOService {
        let service = try await openCredentials(pin, for: reason)
        guard try await service.info().option(.largeBlobs) == true else { throw FIDOError.unsupported("largeBlobs") }
        return service
    }
}

/// Lists the credentials that can have a large blob, and the blobs.
struct FIDO2LargeBlobList: Verb {
    static let about = About(
        "list", "List the credentials with a large blob, and how much room there is.",
        members: ["blobs", "entries", "bytes", "limit"])

    @OptionGroup var pin: PINOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openLargeBlobs(pin, for: "list its credentials")
        var rows: [[String]] = []
        var blobs: [JSONValue] = []
        for found in try await service.discoverableCredentials() where found.credential.largeBlobKey != nil {
            let blob = try await service.largeBlob(key: try await service.largeBlobKey(of: found, world.terminal))
            rows.append([
                found.relyingParty.id.printable, found.name.printable, blob.map { "\($0.count) bytes" } ?? "none",
                found.id,
            ])
            blobs.append([
                "rpId": .string(found.relyingParty.id), "userName": .string(found.name),
                "credentialId": .string(found.id), "size": blob.map { .int(Int64($0.count)) } ?? .null,
            ])
        }
        let usage = try await service.largeBlobUsage()
        let room = "\(usage.entries) blobs, \(usage.bytes) of \(usage.limit) bytes used"
        return Answer(
            Table.lines(rows) + [room],
            [
                "blobs": .array(blobs), "entries": .int(Int64(usage.entries)), "bytes": .int(Int64(usage.bytes)),
                "limit": .int(Int64(usage.limit)),
            ])
    }
}

/// Reads a credential's large blob.
struct FIDO2LargeBlobGet: Verb {
    static let about = About(
        "get", "Print a credential's large blob, or write it into a file.",
        members: ["credentialId", "blob", "size", "output"])

    @Argument("credential", isBase64URL: true, help: DiscoverableCredential.help) var credential: String

    @Option(["--output <file>", "-o"], help: "Where the data goes.") var output: String?

    @OptionGroup var replacing: OutputOptions
    @OptionGroup var pin: PINOptions

    func answer(in world: World) async throws -> Answer {
        let file = try output.map { path in try FileOutput(path, isSecret: true, force: replacing.force, world) }
        let (service, found) = try await world.openLargeBlob(of: credential, pin, for: "find the credential")
        guard let blob = try await service.largeBlob(key: try await service.largeBlobKey(of: found, world.terminal))
        else {
            throw Explanation(
                "no-large-blob", .notFound, "the credential of \(found.words) has no large blob",
                hint: "ykit fido2 large-blob set writes one")
        }
        var answer = Answer([], ["credentialId": .string(found.id), "size": .int(Int64(blob.count))])
        if let output, let file {
            try file.put(blob, &answer)
            answer.lines = ["\(output): \(blob.count) bytes"]
            answer.members["output"] = .string(output)
        } else {
            answer.raw = blob
            answer.members["blob"] = .string(Base64.encodeURL(blob))
        }
        return answer
    }
}

/// Writes a credential's large blob.
struct FIDO2LargeBlobSet: Verb {
    static let about = About(
        "set", "Write a credential's large blob, in place of an earlier one.", members: ["credentialId", "size"])

    @Argument("credential", isBase64URL: true, help: DiscoverableCredential.help) var credential: String

    @Argument("file", help: "What to write: a file, or - for standard input.", completion: .file) var file: String

    @OptionGroup var pin: PINOptions

    func check() throws {
        if file == "-", pin.isStandardInput { throw UsageError("standard input cannot be both, the PIN and the blob") }
    }

    func answer(in world: World) async throws -> Answer {
        let blob = try Files.read(file)
        let (service, found) = try await world.openLargeBlob(of: credential, pin, for: "write a large blob")
        try await service.setLargeBlob(blob, key: try await service.largeBlobKey(of: found, world.terminal))
        return Answer(
            "wrote \(blob.count) bytes for \(found.words)",
            ["credentialId": .string(found.id), "size": .int(Int64(blob.count))])
    }
}

/// Removes a credential's large blob.
struct FIDO2LargeBlobDelete: Verb {
    static let about = About(
        "delete", "Remove a credential's large blob; the credential stays.", members: ["credentialId"])

    @Argument("credential", isBase64URL: true, help: DiscoverableCredential.help) var credential: String

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var pin: PINOptions

    func answer(in world: World) async throws -> Answer {
        let (service, found) = try await world.openLargeBlob(of: credential, pin, for: "remove a large blob")
        let key = try await service.largeBlobKey(of: found, world.terminal)
        try confirmation.ask("delete the large blob of \(found.words)?", in: world)
        guard try await service.removeLargeBlob(key: key) else {
            throw Explanation("no-large-blob", .notFound, "the credential of \(found.words) has no large blob")
        }
        return Answer("deleted the large blob of \(found.words)", ["credentialId": .string(found.id)])
    }
}

/// Removes the large blobs that belong to no credential.
struct FIDO2LargeBlobPrune: Verb {
    static let about = About(
        "prune", "Remove large blobs that belong to no credential on the key.",
        discussion: "Blobs of credentials that the key does not remember itself are removed, too: it asks first.",
        members: ["removed"])

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var pin: PINOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openLargeBlobs(pin, for: "list its credentials")
        let credentials = try await service.discoverableCredentials()
        let keys = credentials.compactMap(\.credential.largeBlobKey)
        // A key that lists no large-blob keys would have all blobs removed.
        let question =
            keys.isEmpty && !credentials.isEmpty
            ? "the key lists no large blob for any of its credentials; remove all large blobs?"
            : "remove all large blobs but those of \(keys.count == 1 ? "one credential" : "\(keys.count) credentials")?"
        try confirmation.ask(question, in: world)
        let removed = try await service.removeOrphanedLargeBlobs(keeping: keys.map { SharedSecret(Secret($0)) })
        return Answer("removed \(removed) large blobs", ["removed": .int(Int64(removed))])
    }
}
