// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKProtocols

extension Run {
    /// Returns where the PIN of an application may come from: the options, the variable of the application, and
    /// `YKIT_PIN`, as far as another application or key has not used them.
    ///
    /// - Parameter key: The serial number of the key, for a verb that may use several. A variable may end in it.
    package func source(of kind: CredentialKind, _ options: PINOptions, key: String? = nil) -> SecretInput.Source {
        source(of: kind, options.source, key: key)
    }

    /// Returns the same for another form of options.
    package func source(
        of kind: CredentialKind, _ places: SecretInput.Source, key: String? = nil
    ) -> SecretInput.Source {
        var source = places
        source.variables = [kind.variable, PIN.name.variable]
        source = ofThisKey(source, key: key)
        source.claim = SecretInput.Claim(
            owner: PINOwner(kind: kind, key: key ?? otherKey), claims: pinClaims)
        return source
    }

    /// Restricts a source to what belongs to this key: a variable without a serial number belongs to the key that the
    /// command line selects, not to the other key of a verb with two.
    package func ofThisKey(_ places: SecretInput.Source, key: String? = nil) -> SecretInput.Source {
        var source = places
        guard let serial = key ?? otherKey, let variable = places.variables.first else { return source }
        let named = "\(variable)_\(serial)"
        source.variables = otherKey == nil ? [named] + places.variables : [named]
        if otherKey != nil { source.hint = "\(places.hint.isEmpty ? "set" : places.hint + ", or set") \(named)" }
        return source
    }

    /// The words for the key in a prompt.
    package var keyWords: String { otherKey.map { "the key \($0.printable)" } ?? "the key" }
}
