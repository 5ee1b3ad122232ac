// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKCrypto
import YKTestSupport
import YKTransport
import YKWire

func channel(_ link: sending any CardLink) -> sending CardChannel {
    CardChannel(link: link, environment: .instant(ScatteredRandom()))
}
