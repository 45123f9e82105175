/** Whether a request may name this host (`Host`), as what it believes to be talking to. */
export type HostTest = (host: string | undefined) => boolean

const nameOf = (host: string): string | undefined => {
  const url = `http://${host}`
  return /^[\w.:[\]-]+$/.test(host) && URL.canParse(url) ? new URL(url).hostname.replace(/\.$/, "") : undefined
}

/** Names of this machine, and addresses: rebinding needs a name that its owner can lead elsewhere. */
const ofMachine = /^(([^.]+\.)*localhost|\d+(\.\d+){3}|\[[\da-f:.]+\])$/

/**
 * Outside of production addresses, the names of this machine, and the host of the deployment's public address: any other
 * name was made to lead here by its owner, whose page would be of the same origin then (DNS rebinding). A request that
 * names none is no browser's. In production the proxy in front knows the names.
 */
export const hostTest = (publicUrl: string | undefined, production: boolean): HostTest => {
  const own = publicUrl === undefined ? undefined : new URL(publicUrl).hostname
  return (host) => {
    if (production || host === undefined) return true
    const name = nameOf(host)
    return name !== undefined && (ofMachine.test(name) || name === own)
  }
}
