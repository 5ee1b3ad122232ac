// SPDX-License-Identifier: Apache-2.0

import Arguments
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

extension DiscoverableCredential {
    /// The credential's large-blob key; without one, the credential cannot have a blob.
    func largeBlobKey() throws(Explanation) -> SharedSecret {
        guard let key = credential.largeBlobKey else {
            throw Explanation(
                "no-large-blob-key", .notSupported, "the credential of \(words) was made without a large blob",
                hint: "create it again with: ykit fido2 register --large-blob")
        }
        return SharedSecret(Secret(key))
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
