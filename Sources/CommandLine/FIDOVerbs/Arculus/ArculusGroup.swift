// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs

/// Commands for Arculus cards and their servers.
struct ArculusGroup: ParsableCommand {
    static let about = About(
        "arculus", "Arculus cards: register and sign in over a contactless reader.",
        subcommands: [
            ArculusShow.self, ArculusRegister.self, ArculusAuthenticate.self, ArculusCardGroup.self, ArculusReset.self,
            ArculusChangePIN.self,
        ],
        examples: [Example("ykit arculus info")])
}

/// Commands for backends that communicate with the server themselves.
struct ArculusCardGroup: ParsableCommand {
    static let about = About(
        "card", "Only the card's part, for a backend that handles the challenge.",
        subcommands: [ArculusCardRegister.self, ArculusCardAuthenticate.self],
        examples: [Example("ykit arculus card register --origin https://example.com --options create.json")])
}
