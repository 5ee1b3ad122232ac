// SPDX-License-Identifier: Apache-2.0

package import Arguments
import Glibc
import Synchronization
package import YKCrypto
import YKHardware
import YKInteraction

/// Reads secrets without echo and wipes them after use; the command line is the last resort.
package enum SecretInput {
    /// The maximum length of a secret, in bytes.
    package static let limit = 4096

    /// The number of lines that were read from standard input.
    private static let lines = Mutex(0)

    /// Reads one line from a descriptor, without its line end.
    ///
    /// - Parameter noun: What the line holds, for messages.
    package static func line(from descriptor: Int32, limit: Int = limit, noun: String? = nil) throws -> Secret {
        OwnProcess.hide()
        if descriptor == 0 { try StandardInput.beginLine() }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(limit)  // An array that grows leaves copies behind.
        defer { Secret.wipe(&bytes) }
        var byte: UInt8 = 0
        var isBegun = false
        while true {
            let count = read(descriptor, &byte, 1)
            if count < 0, errno == EINTR {
                if Interruption.happened { throw Explanation.interrupted }
                continue
            }
            guard count >= 0 else {
                throw Explanation.usage("cannot read from descriptor \(descriptor): \(System.failure)")
            }
            guard count > 0 || isBegun else { throw atEnd(descriptor, noun, after: lines.withLock(\.self)) }
            if count == 0 || byte == UInt8(ascii: "\n") { break }
            isBegun = true
            guard bytes.count < limit else { throw Explanation.usage("the secret is longer than \(limit) bytes") }
            bytes.append(byte)
        }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        if descriptor == 0 { lines.withLock { $0 += 1 } }
        return Secret(bytes)
    }

    /// The error for a descriptor without a line, not even an empty one.
    private static func atEnd(_ descriptor: Int32, _ noun: String?, after lines: Int) -> Explanation {
        let place = descriptor == 0 ? "standard input" : "descriptor \(descriptor)"
        let noun = noun.map { "the \($0)" } ?? "the secret"
        guard descriptor == 0, lines > 0 else {
            return .usage("\(place) has no line with \(noun)", hint: "for an empty secret, give an empty line")
        }
        return .usage(
            "standard input ends before \(noun) (line \(lines + 1))",
            hint: "each secret is one line; for an empty one, give an empty line")
    }

    /// The sources of a secret other than a prompt.
    package struct Source: Sendable {
        /// The secret itself, from the command line.
        package var text: String?
        /// Whether it is read from standard input.
        package var isStandardInput = false
        /// The descriptor to read it from.
        package var descriptor: Int32?
        /// The environment variables that may hold it; the first that is set counts.
        package var variables: [String]
        /// The other ways to provide it, for hints.
        package var hint: String
        /// The maximum length, in bytes.
        package var limit: Int
        /// The noun for it, without an article.
        package var noun: String?
        /// Whose PIN it is; `nil` for other secrets.
        package var claim: Claim?

        package init(
            text: String? = nil, isStandardInput: Bool = false, descriptor: Int32? = nil, variable: String,
            hint: String, limit: Int = SecretInput.limit, noun: String? = nil
        ) {
            (self.text, self.isStandardInput, self.descriptor) = (text, isStandardInput, descriptor)
            (variables, self.hint, self.limit, self.noun) = ([variable], hint, limit, noun)
        }

        /// Whether no prompt is needed.
        package func isGiven(_ terminal: Terminal) -> Bool { place(terminal.stage.variables) != nil }

        /// The first place that holds it and is not claimed by another owner.
        private func place(_ known: EnvironmentVariables) -> Place? {
            var places: [Place] = []
            if let text { places.append(.text(text)) }
            if isStandardInput { places.append(.descriptor(0)) }
            if let descriptor { places.append(.descriptor(descriptor)) }
            places += variables.filter { known[$0] != nil }.map { .variable($0) }
            return places.first { claim?.permits($0.name) ?? true }
        }

        /// Returns the secret, given or asked for.
        package func read(_ terminal: Terminal, asking question: String) throws -> Secret {
            if let given = try given(terminal) { return given.value.copy() }
            return try terminal.secret(question, orElse: hint).value.copy()
        }

        /// Returns a new secret, given or asked for twice.
        package func readNew(_ terminal: Terminal, asking question: String) throws -> Secret {
            if let given = try given(terminal) { return given.value.copy() }
            return try terminal.secret(question, isNew: true, orElse: hint).value.copy()
        }

        /// Returns the secret; `nil` unless it is given.
        package func given(_ terminal: Terminal) throws -> SharedSecret? {
            guard let place = place(terminal.stage.variables) else { return nil }
            OwnProcess.hide()
            claim?.take(place.name)
            switch place {
            case .text(let text): return SharedSecret(Secret(utf8: text))
            case .descriptor(let number):
                return SharedSecret(try SecretInput.line(from: number, limit: limit, noun: noun))
            case .variable(let name):
                terminal.notice("using \(name) from the environment")
                let text = terminal.stage.variables[name] ?? ""
                return SharedSecret(Secret(utf8: SecretInput.withoutLineEnd(text)))
            }
        }
    }

    /// A place that holds a secret.
    fileprivate enum Place {
        case text(String)
        case descriptor(Int32)
        case variable(String)

        /// The name by which claims know it.
        var name: String {
            switch self {
            case .text: "the command line"
            case .descriptor(let number): "descriptor \(number)"
            case .variable(let name): name
            }
        }
    }

    /// The owner of a PIN, and which PINs others have used.
    package struct Claim: Sendable {
        package let owner: PINOwner
        package let claims: PINClaims

        package init(owner: PINOwner, claims: PINClaims) { (self.owner, self.claims) = (owner, claims) }

        package func permits(_ place: String) -> Bool { claims.permits(place, owner) }
        package func take(_ place: String) { claims.take(place, owner) }
    }

    /// Returns a text without one trailing line end, which secret stores often add.
    static func withoutLineEnd(_ text: String) -> String {
        guard text.utf8.last == UInt8(ascii: "\n") else { return text }
        let bytes = text.utf8.dropLast()
        return String(decoding: bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes, as: UTF8.self)
    }

    /// Warns about every secret on the command line, whether or not the verb uses it.
    package static func warnOfExposed(_ declarations: Declarations, _ terminal: Terminal) {
        for declaration in declarations.all where declaration.isGiven {
            guard case .option(let names) = declaration.place else { continue }
            if let kind = exposed.first(where: { $0.name.option == names.plain }) {
                terminal.warn("exposed-secret", kind.warning)
            }
        }
    }

    private static let exposed: [any ExposedSecretKind.Type] = [
        OATHPassword.self, PIN.self, PUK.self, ManagementKeySecret.self,
    ]
}
