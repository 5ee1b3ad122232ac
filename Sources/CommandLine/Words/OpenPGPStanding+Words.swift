// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import YKOpenPGP
import YKTransport

extension OpenPGPStanding {
    /// What the card refused, and what holds now.
    func explanation(after cause: CardError) -> Explanation {
        var explanation = cause.explanation
        explanation.code = "unfinished"
        explanation.retriesLeft = nil
        explanation.message += "; the change is not complete: " + words
        explanation.hint = hint
        return explanation
    }

    private var words: String {
        let form =
            switch isHashed {
            case true?: "PINs are sent as hashes now, "
            case false?: "PINs are sent unhashed now, "
            case nil: ""
            }
        if user == .unknown, admin == .unknown { return form + "each PIN is the old or the new one" }
        return form + "the user PIN \(user.words("123456")), the admin PIN \(admin.words("12345678"))"
    }

    private var hint: String {
        switch (user, admin) {
        case (.initial, .initial): "ykit openpgp access change-pin, ykit openpgp access change-admin-pin"
        case (.initial, _): "ykit openpgp access change-pin"
        case (_, .initial): "ykit openpgp access change-admin-pin"
        case (_, .unusable) where isHashed == false: "only 'ykit openpgp reset' clears this; it deletes all keys"
        case (_, .unusable), (_, .unknown): "repeat the command, with the old admin PIN or the new one"
        case (.unusable, _): "ykit openpgp access unblock-pin sets the user PIN with the admin PIN"
        case (_, .old): "ykit openpgp access change-admin-pin"
        case (_, .new): "repeat the command"
        }
    }
}

extension OpenPGPStanding.PIN {
    fileprivate func words(_ initial: String) -> String {
        switch self {
        case .old: "is the old one"
        case .new: "is the new one"
        case .initial: "is \(initial)"
        case .unusable: "cannot be used"
        case .unknown: "is the old or the new one"
        }
    }
}
