/** A client of Petstore, which the tests beside it are about. */
export class Shop {
  #baseUrl;
  #key;

  constructor({ baseUrl, key }) {
    this.#baseUrl = baseUrl;
    this.#key = key;
  }

  /** Orders pets, once, however often the request has to be sent. `sleep` waits for milliseconds. */
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
      const response = await fetch(`${this.#baseUrl}/store/orders`, order);
      const isBusy = response.status === 429 || response.status === 503;
      if (!isBusy || attempt === 5) return { status: response.status, ...(await response.json()) };
      await response.body?.cancel();
      await sleep(Number(response.headers.get('Retry-After')) * 1000);
    }
  }

  /** How many of a pet are there to be ordered. */
  async stock(petId) {
    const response = await fetch(`${this.#baseUrl}/inventory/${petId}`, {
      headers: { Authorization: `Bearer ${this.#key}` },
    });
    return (await response.json()).quantity;
  }
}
