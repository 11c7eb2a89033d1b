/** A client of Petstore. The tests beside it test this class. */
export class Shop {
  #baseUrl;
  #key;

  constructor({ baseUrl, key }) {
    this.#baseUrl = baseUrl;
    this.#key = key;
  }

  /** Orders pets once, even if the request must be retried. `sleep` waits for milliseconds. */
  async order(petId, quantity, sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))) {
    const order = {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${this.#key}`,
        'Content-Type': 'application/json',
        'Idempotency-Key': crypto.randomUUID(),
      },
      body: JSON.stringify({ petId, quantity }),
    };
    for (let attempt = 1; ; attempt++) {
      let waitMs = 100 * 2 ** attempt;
      let problem;
      try {
        const signal = AbortSignal.timeout(15_000);
        const response = await fetch(`${this.#baseUrl}/store/orders`, { ...order, signal });
        const { status, headers } = response;
        const body = await response.json();
        const retryAfter = headers.get('Retry-After');
        // 403 key_banned and 409 idempotency_key_in_use also have Retry-After.
        if (!retryAfter && status !== 429 && status < 500) return { status, ...body };
        problem = new Error(body.message);
        waitMs = Math.max(waitMs, msOf(retryAfter));
      } catch (error) {
        // The connection broke, or the response is too late, incomplete or from a gateway.
        problem = error;
      }
      if (attempt === 5 || waitMs > 90_000) throw problem;
      await sleep(waitMs);
    }
  }

  /** Returns how many units of a pet are in stock. */
  async stock(petId) {
    const response = await fetch(`${this.#baseUrl}/inventory/${petId}`, {
      headers: { Authorization: `Bearer ${this.#key}` },
    });
    return (await response.json()).quantity;
  }
}

/** `Retry-After` in milliseconds: it has seconds, or a date. */
const msOf = (field) => (Number.isNaN(Number(field)) ? Date.parse(field) - Date.now() : Number(field) * 1000);
