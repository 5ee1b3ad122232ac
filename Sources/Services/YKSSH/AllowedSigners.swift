// SPDX-License-Identifier: Apache-2.0

/// The allowed signers, as `ssh-keygen -Y verify` reads them from a file (ssh-keygen(1), ALLOWED SIGNERS).
///
/// Each line is independent: one that cannot be read is skipped, and ``Verdict/notes`` says why if it names the signer.
public struct AllowedSigners: Sendable {
    /// The decision about a signature.
    public struct Verdict: Hashable, Sendable {
        /// Whether a line allows it.
        public var isAllowed = false
        /// Why lines that name the signer do not apply, each with its line number.
        public var notes: [String] = []
    }

    private let lines: [(number: Int, line: SignerLine)]

    /// Reads a file. Lines end at LF.
    public init(_ text: [UInt8]) {
        let texts = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        lines = texts.enumerated().compactMap { index, text in SignerLine(text).map { (index + 1, $0) } }
    }

    /// Decides whether an identity may make a file signature. Does not check that it is for the file and the namespace.
    ///
    /// A signature made with a certificate is allowed by a line of its authority (`cert-authority`) if the certificate
    /// is a user certificate, is valid at the time and names the identity.
    ///
    /// - Parameters:
    ///   - signature: The signature.
    ///   - identity: The signer, such as an email address.
    ///   - now: Seconds since 1970.
    public func check(_ signature: SSHFileSignature, identity: String, now: Int64) -> Verdict {
        var verdict = Verdict()
        for (number, line) in lines where line.names(identity) {
            guard let problem = line.problem(with: signature, identity, now: UInt64(clamping: now)) else {
                verdict.isAllowed = true
                return verdict
            }
            if !problem.isEmpty { verdict.notes.append("line \(number): \(problem)") }
        }
        return verdict
    }
}
