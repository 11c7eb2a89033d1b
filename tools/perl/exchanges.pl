# Sends requests from standard input, and writes what JSON::Validator says of each request and response.
use strict;
use warnings;
use JSON::Validator;
use Mojo::JSON qw(decode_json encode_json from_json);
use Mojo::URL;
use Mojo::UserAgent;
use Mojo::Util qw(encode);

my $schema = JSON::Validator->new->schema($ARGV[0])->schema;
die "@{$schema->errors}" if @{$schema->errors};
my $base = $schema->base_url->path->to_string;
my $agent = Mojo::UserAgent->new;
my $text = sub { join '; ', @_ };

# The path of an operation, and the values of its parameters.
sub route {
    my ($method, $path) = @_;
    for my $route (@{$schema->routes}) {
        next if $route->{method} ne $method;
        my @names;
        my $form = $route->{path} =~ s/\{(\w+)\}/push @names, $1; '([^\/]+)'/egr;
        my @values = $path =~ /^\Q$base\E$form$/ or next;
        return $route->{path}, {map { $names[$_] => $values[$_] } 0 .. $#names};
    }
    die "no operation for $method $path";
}

sub verdict {
    my ($sent) = @_;
    my $url = Mojo::URL->new($sent->{url});
    my $method = lc $sent->{method};
    my ($path, $in_path) = route($method, $url->path->to_string);
    my $body = length $sent->{body} ? from_json($sent->{body}) : undef;
    my %headers = map { lc $_ => $sent->{headers}{$_} } keys %{$sent->{headers}};
    my @request_errors = $schema->validate_request([$method, $path], {
        path   => $in_path,
        query  => $url->query->to_hash,
        header => \%headers,
        body   => sub { {exists => defined $body, value => $body, content_type => $headers{'content-type'}} },
    });
    my $response = $agent->start($agent->build_tx($sent->{method}, $url, $sent->{headers}, encode('UTF-8', $sent->{body})))->res;
    my @response_errors = $schema->validate_response([$method, $path, $response->code], {
        header => {map { lc $_ => $response->headers->header($_) } @{$response->headers->names}},
        body   => sub { {exists => length $response->body > 0, value => $response->json, content_type => $response->headers->content_type =~ s/;.*//r} },
    });
    return {name => $sent->{name}, status => $response->code + 0, request => $text->(@request_errors), response => $text->(@response_errors)};
}

local $/;
print encode_json([map { verdict($_) } @{decode_json(<STDIN>)}]);
