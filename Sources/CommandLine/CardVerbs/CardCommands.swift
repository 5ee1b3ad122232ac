// SPDX-License-Identifier: Apache-2.0

package import Arguments

/// The commands for cards.
package enum CardCommands {
    package static var piv: any Command.Type { PIVGroup.self }
    package static var hsmauth: any Command.Type { HSMAuthGroup.self }
    package static var openpgp: any Command.Type { OpenPGPGroup.self }
    package static var sd: any Command.Type { SDGroup.self }
    package static var nfc: any Command.Type { NFCGroup.self }
}
