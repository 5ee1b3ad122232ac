// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

extension OATHService {
    /// Unlocks the accounts (VALIDATE) and verifies that the key knows the password too. The access key is kept to
    /// unlock again if another program resets the card.
    ///
    /// Does nothing if no password is set.
    ///
    /// - Throws: `wrongPassword`, or `notAuthentic` if the key's response is wrong.
    public func unlock(with key: consuming AccessKey) throws(OATHError) { try session.unlock(with: key) }

    /// Sets or changes the password (SET CODE).
    public func setAccessKey(_ key: consuming AccessKey) throws(OATHError) {
        let challenge = try lift({ OATHError.card(.link($0)) }) { () throws(LinkError) in
            try session.channel.environment.random.draw(8, secret: false)
        }
        try session.send(SetAccessKey(key, challenge: challenge))
        session.passwordDidChange(to: key)
    }

    /// Removes the password (SET CODE without a key).
    public func removeAccessKey() throws(OATHError) {
        try session.send(SetAccessKey.removal)
        session.passwordDidChange(to: nil)
    }
}
